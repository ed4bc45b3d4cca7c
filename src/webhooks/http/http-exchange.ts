import type { IncomingHttpHeaders } from 'node:http';
import { errors, type Dispatcher } from 'undici';
import { isLostConnection, requestFailure } from './failure-of-error.js';
import { HttpFailure, type HttpOutcome } from './http-outcome.js';
import { BODY_LIMIT_BYTES, retryAfterMs, textOfBody } from './response-parts.js';

/** Interim answers (1xx) carry no body to count; a receiver that sends more of them than this means no good. */
const INTERIM_ANSWERS = 10;

/** How an exchange ended; `lost` when its connection ended without a word. */
export type ExchangeEnd = { outcome: HttpOutcome; lost: boolean };

/**
 * One request on one connection, as undici tells it, up to the outcome; ended from outside with `fail` or `abort`.
 * Hangs up where the connection is of no more use.
 */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly end: Promise<ExchangeEnd>;
  private resolve!: (end: ExchangeEnd) => void;
  private reject!: (error: Error) => void;
  private ended = false;
  private started = false;
  private interimAnswers = 0;
  private status?: number;
  private wait?: number;
  private readonly chunks: Buffer[] = [];
  private received = 0;

  constructor(
    private readonly begun: number,
    private readonly hangUp: () => void,
  ) {
    this.end = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** How far it came, for the words about a time-out. */
  get stage(): 'connecting' | 'waiting' | 'reading' {
    if (this.status !== undefined) return 'reading';
    return this.started ? 'waiting' : 'connecting';
  }

  fail(error: HttpFailure, lost = false): void {
    const { failure, detail } = error;
    this.finish({ kind: 'failure', failure, detail, durationMs: this.durationMs() }, lost);
    this.hangUp();
  }

  abort(): void {
    this.finish({ kind: 'aborted' });
    this.hangUp();
  }

  onRequestStart(): void {
    this.started = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) {
      if (++this.interimAnswers > INTERIM_ANSWERS) {
        this.fail(new HttpFailure('http', 'There were too many interim answers (1xx).'));
      }
      return;
    }
    this.status = status;
    this.wait = retryAfterMs(headers['retry-after']);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.ended) return;
    const room = BODY_LIMIT_BYTES - this.received;
    // A copy: the bytes of the connection's buffer are only lent.
    this.chunks.push(Buffer.from(chunk.subarray(0, room)));
    this.received += chunk.length;
    if (chunk.length <= room) return;
    this.answer();
    this.hangUp();
  }

  onResponseEnd(): void {
    this.answer();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (error instanceof errors.InvalidArgumentError) {
      // Our own mistake, not the receiver's.
      this.ended = true;
      this.reject(error);
      return;
    }
    const answerBegan = this.status !== undefined || this.interimAnswers > 0;
    this.fail(requestFailure(error, answerBegan), !answerBegan && isLostConnection(error));
  }

  private answer(): void {
    this.finish({
      kind: 'response',
      status: this.status!,
      durationMs: this.durationMs(),
      bodyStart: textOfBody(Buffer.concat(this.chunks)),
      ...(this.wait === undefined ? {} : { retryAfterMs: this.wait }),
    });
  }

  private finish(outcome: HttpOutcome, lost = false): void {
    this.ended = true;
    this.resolve({ outcome, lost });
  }

  private durationMs(): number {
    return Math.round(performance.now() - this.begun);
  }
}
