/** The text of a POST of a form. */
export function post(path, authorization, form) {
  return (
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\n` +
    `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${form.length}\r\n\r\n${form}`
  );
}

/** The text of a GET with a bearer token. */
export function get(path, token) {
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`;
}

/** HTTP Basic as RFC 6749 §2.3.1 has it. */
export function basic({ id, secret }) {
  const text = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

/** Throws unless it holds: for looking at answers. */
export function expect(holds, what) {
  if (!holds) throw new Error(what);
}
