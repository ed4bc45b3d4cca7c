import { CLIENT_CERTIFICATE, HTTP2_ONLY, HttpFailure } from './http-outcome.js';

const TLS_DETAILS = new Map(
  Object.entries({
    CERT_HAS_EXPIRED: 'The certificate has expired.',
    CERT_NOT_YET_VALID: 'The certificate is not valid yet.',
    ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host name.',
    DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed.',
    SELF_SIGNED_CERT_IN_CHAIN: 'The certificate was issued by an authority that is not trusted.',
    CERT_SIGNATURE_FAILURE: 'The certificate was issued by an authority that is not trusted.',
    UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
      'The certificate was issued by an authority that is not trusted, or an intermediate certificate is missing.',
    UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      'The certificate was issued by an authority that is not trusted, or an intermediate certificate is missing.',
  }),
);

const HTTP_DETAILS = new Map(
  Object.entries({
    UND_ERR_HEADERS_OVERFLOW: 'The headers of the response are too large.',
    UND_ERR_SOCKET: 'The response does not belong to the request.',
    UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'The response ended before it was complete.',
  }),
);

/** Codes of a connection that was lost during a request. undici uses its code also for responses that it rejects. */
const LOST = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET']);

/** How far a connection got, and whether its TLS handshake asked for a certificate of ours. */
export interface ConnectStage {
  stage: 'tcp' | 'tls';
  certificateAsked?: boolean;
}

/** The failure of a connection that was never established. */
export function connectFailure(error: Error, { stage, certificateAsked }: ConnectStage): HttpFailure {
  if (error instanceof HttpFailure) return error;
  const code = codeOf(error);
  if (code === 'ETIMEDOUT') {
    return new HttpFailure('timeout', 'No connection could be established in time.');
  }
  if (stage === 'tls') return tlsFailure(code, certificateAsked);
  if (code === 'ECONNREFUSED') return new HttpFailure('connection', 'The connection was refused.');
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') {
    return new HttpFailure('connection', 'The host cannot be reached.');
  }
  return new HttpFailure('connection', `The connection could not be established${inBrackets(code)}.`);
}

/** How far a request on an established connection got, and whether the TLS handshake had asked for a certificate of ours. */
export interface RequestStage {
  answerBegan: boolean;
  certificateAsked?: boolean;
}

/** The failure of a request on an established connection. */
export function requestFailure(error: Error, { answerBegan, certificateAsked }: RequestStage): HttpFailure {
  if (error instanceof HttpFailure) return error;
  const code = codeOf(error);
  if (/^ERR_(SSL|TLS)_/.test(code)) return tlsFailure(code, certificateAsked && !answerBegan);
  if (isLostConnection(error)) {
    // With TLS 1.3 a server refuses a certificate, or none, after the handshake.
    if (certificateAsked && !answerBegan) return new HttpFailure('tls', CLIENT_CERTIFICATE);
    return answerBegan
      ? new HttpFailure('http', 'The response ended before it was complete.')
      : new HttpFailure('connection', 'The connection was closed before a response arrived.');
  }
  if (code === 'ETIMEDOUT') return new HttpFailure('timeout', 'The connection timed out.');
  return new HttpFailure(
    'http',
    HTTP_DETAILS.get(code) ?? `The response is not valid HTTP/1.1${inBrackets(code)}.`,
  );
}

/** Whether the connection was lost, as happens to a kept-alive connection that the receiver has closed. */
export const isLostConnection = (error: Error): boolean =>
  LOST.has(codeOf(error)) && !error.message.startsWith('bad ');

function tlsFailure(code: string, certificateAsked = false): HttpFailure {
  const known = /_ALERT_NO_APPLICATION_PROTOCOL$/.test(code) ? HTTP2_ONLY : TLS_DETAILS.get(code);
  const detail = known ?? (certificateAsked ? CLIENT_CERTIFICATE : undefined);
  return new HttpFailure('tls', detail ?? `The TLS handshake failed${inBrackets(code)}.`);
}

/** The code of an error; where several addresses failed, the code of the last one. */
function codeOf(error: Error): string {
  const last = error instanceof AggregateError ? (error.errors.at(-1) as unknown) : error;
  return (last as NodeJS.ErrnoException | undefined)?.code ?? '';
}

/** Shows only codes, because messages can name addresses. */
const inBrackets = (code: string): string => (/^[A-Z][A-Z0-9_/]{2,60}$/.test(code) ? ` (${code})` : '');
