import { connect } from 'node:net';

/** A response as it arrived on a socket. */
export interface RawAnswer {
  status: number;
  headers: Headers;
  text: string;
}

// It only ends a hang: far longer than any response takes.
const DEADLINE_MS = 60_000;

/**
 * Sends bytes that no HTTP client would send, on a new connection, and reads until the service closes it. Throws if the service
 * neither answers nor closes in time.
 */
export function sendRaw(url: string, ...parts: (string | Buffer)[]): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => {
      for (const part of parts) socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
    });
    const timer = setTimeout(
      () => socket.destroy(new Error('the service did not answer in time')),
      DEADLINE_MS,
    );
    let failure: Error | undefined;
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    // The service may close while the request is still being written: the response sent before that counts.
    socket.on('error', (error) => (failure = error));
    socket.on('close', () => {
      clearTimeout(timer);
      const answer = parseAnswer(Buffer.concat(chunks).toString('utf8'));
      if (answer) resolve(answer);
      else reject(failure ?? new Error('the service closed the connection without an answer'));
    });
  });
}

/** A request as text; it asks the service to close the connection afterwards. */
export function rawRequest(requestLine: string, headers: Record<string, string> = {}, body = ''): string {
  const all = {
    Host: 'service.example',
    Connection: 'close',
    ...(body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body, 'latin1')) }),
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${requestLine} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
}

function parseAnswer(text: string): RawAnswer | undefined {
  const match = /^HTTP\/1\.1 (\d{3})[^\r]*\r\n([\s\S]*?)\r\n\r\n([\s\S]*)$/.exec(text);
  if (!match) return undefined;
  const headers = new Headers();
  for (const line of match[2]!.split('\r\n')) {
    const at = line.indexOf(':');
    headers.append(line.slice(0, at), line.slice(at + 1).trim());
  }
  return { status: Number(match[1]), headers, text: match[3]! };
}
