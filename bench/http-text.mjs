/** The text of a POST request with a form. */
export function post(path, authorization, form) {
  return (
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: ${authorization}\r\n` +
    `content-type: application/x-www-form-urlencoded\r\ncontent-length: ${form.length}\r\n\r\n${form}`
  );
}

/** The text of a GET request with a bearer token. */
export function get(path, token) {
  return `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n\r\n`;
}

/** HTTP Basic credentials (RFC 6749 §2.3.1). */
export function basic({ id, secret }) {
  const text = `${encodeURIComponent(id)}:${encodeURIComponent(secret)}`;
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

/** Throws unless the condition holds; for checking responses. */
export function expect(holds, what) {
  if (!holds) throw new Error(what);
}
