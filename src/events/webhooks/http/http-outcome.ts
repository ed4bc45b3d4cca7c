/**
 * Why there was no complete response (contract §11.4); `http` is a response that is not HTTP, or not complete; `token`: the receiver was
 * not asked, because its authorization server gave no access token; `not_acknowledged`: it answered a batch with 207, and this not.
 */
export type FailureKind =
  | 'dns'
  | 'tls'
  | 'timeout'
  | 'blocked_address'
  | 'connection'
  | 'http'
  | 'token'
  | 'not_acknowledged';

/** A header of a response: its name and its value. */
export type HeaderLine = [name: string, value: string];

/**
 * A response with any status. `headers` are the first ones, `bodyStart` is the first 16 kB as text that can be stored, `detail` says why
 * there is none although there is a body; `retryAfterMs` is at most 24 h.
 */
interface ResponseOutcome {
  kind: 'response';
  status: number;
  durationMs: number;
  headers: HeaderLine[];
  bodyStart: string;
  detail?: string;
  retryAfterMs?: number;
}

/** No response; `detail` is a sentence for the owner of the endpoint. */
interface FailureOutcome {
  kind: 'failure';
  failure: FailureKind;
  detail: string;
  durationMs: number;
}

/** The outcome of a POST; `aborted` if its caller, or the shutdown of the client, ended it. */
export type HttpOutcome = ResponseOutcome | FailureOutcome | { kind: 'aborted' };

/** A failure before a complete response. */
export class HttpFailure extends Error {
  constructor(
    readonly failure: FailureKind,
    readonly detail: string,
  ) {
    super(detail);
  }
}

/** The detail of `blocked_address`. It does not name the address, because our name servers may know internal names. */
export const INTERNAL_ADDRESS = 'The host has an address that is not on the public internet.';

/** The detail of a receiver without HTTP/1.1, whether it says so in the TLS handshake or by its answer. */
export const HTTP2_ONLY = 'The server does not accept HTTP/1.1, and seems to accept HTTP/2 only.';

/** The detail of a receiver that asks for a certificate of ours. */
export const CLIENT_CERTIFICATE =
  'The server asked for a client certificate (mutual TLS) and closed the connection because there is none.';
