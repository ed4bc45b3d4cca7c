import type { Socket } from 'node:net';
import { ulid } from 'ulid';

/** Answers what is not HTTP, or has headers over Node's limit of 16 kB, before any route sees it. */
export function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, title, detail } = describe(error.code);
  const body = JSON.stringify({ status, title, detail });
  socket.end(
    `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nX-Request-Id: ${ulid()}\r\nX-Content-Type-Options: nosniff\r\n` +
      `Cache-Control: no-store\r\nConnection: close\r\n\r\n${body}`,
  );
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
