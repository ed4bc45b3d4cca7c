/** Why there was no complete answer (contract §11.4); `http` is an answer that is not HTTP, or not whole. */
export type FailureKind = 'dns' | 'tls' | 'timeout' | 'blocked_address' | 'connection' | 'http';

/** An answer of any status. `bodyStart` is the first 16 kB as text that can be stored; `retryAfterMs` is at most 24 h. */
export interface ResponseOutcome {
  kind: 'response';
  status: number;
  durationMs: number;
  bodyStart: string;
  retryAfterMs?: number;
}

/** No answer; `detail` is one sentence that the owner of the endpoint may read. */
export interface FailureOutcome {
  kind: 'failure';
  failure: FailureKind;
  detail: string;
  durationMs: number;
}

/** What came of one POST; `aborted` when its caller, or the end of the client, ended it. */
export type HttpOutcome = ResponseOutcome | FailureOutcome | { kind: 'aborted' };

/** What went wrong on the way to an answer. */
export class HttpFailure extends Error {
  constructor(
    readonly failure: FailureKind,
    readonly detail: string,
  ) {
    super(detail);
  }
}

/** The detail of `blocked_address`. Which address it is stays unsaid: our name servers may know names of our own. */
export const INTERNAL_ADDRESS = 'The host has an address that is not on the public internet.';
