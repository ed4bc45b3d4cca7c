import type { Socket } from 'node:net';
import { newUlid } from '#platform/secrets/ids.js';

/** The headers of responses that are sent before any hook runs. */
export const BARE_HEADERS = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none';base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // The URL may contain the key of a link.
  'referrer-policy': 'strict-origin',
  'cache-control': 'no-store',
};

/** Responds to requests that are not HTTP, or whose headers exceed Node's limit of 16 kB, before any route sees them. */
export function answerClientError(
  error: Error & { code?: string; rawPacket?: unknown },
  socket: Socket,
): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, title, detail } = describe(error.code);
  const body = JSON.stringify({ status, title, detail });
  const headers = {
    ...BARE_HEADERS,
    'content-type': 'application/problem+json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': newUlid(),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  // RFC 9110 §9.3.2: a body would be read as the start of the next response.
  const { rawPacket } = error;
  const isHead = Buffer.isBuffer(rawPacket) && rawPacket.toString('latin1', 0, 5) === 'HEAD ';
  socket.end(`HTTP/1.1 ${status} ${title}\r\n${lines.join('')}\r\n${isHead ? '' : body}`);
}

function describe(code: string | undefined): { status: number; title: string; detail: string } {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return {
        status: 431,
        title: 'Request Header Fields Too Large',
        detail: 'The headers are larger than 16 kB.',
      };
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, title: 'Request Timeout', detail: 'The request did not arrive in time.' };
    default:
      return { status: 400, title: 'Bad Request', detail: 'This is not a well-formed HTTP request.' };
  }
}
