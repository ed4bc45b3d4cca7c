import type { IncomingHttpHeaders } from 'node:http';
import { errors, type Dispatcher } from 'undici';
import { isLostConnection, requestFailure } from './failure-of-error.js';
import { HttpFailure, type HeaderLine, type HttpOutcome } from './http-outcome.js';
import { BODY_LIMIT_BYTES, encodingDetail, keptHeaders, retryAfterMs, textOfBody } from './response-parts.js';
import { ResponseStart } from './response-start.js';

/** How an exchange ended; `lost` if the connection was lost. */
export type ExchangeEnd = { outcome: HttpOutcome; lost: boolean };

/** What an exchange needs of its connection. */
interface ExchangeConnection {
  /** Whether the TLS handshake asked for a certificate of ours. */
  readonly certificateAsked: boolean;
  hangUp(): void;
}

/**
 * One request on one connection, driven by undici's events up to the outcome; `fail` and `abort` end it from outside. Closes the
 * connection if it cannot be used again.
 */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly end: Promise<ExchangeEnd>;
  readonly responseStart = new ResponseStart();
  private resolve!: (end: ExchangeEnd) => void;
  private reject!: (error: Error) => void;
  private ended = false;
  private started = false;
  private status?: number;
  private wait?: number;
  private headers: HeaderLine[] = [];
  private encoding?: string;
  private readonly chunks: Buffer[] = [];
  private received = 0;

  constructor(
    private readonly begun: number,
    private readonly connection: ExchangeConnection,
  ) {
    this.end = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** How far the exchange got, for the description of a timeout. */
  get stage(): 'connecting' | 'waiting' | 'reading' {
    if (this.status !== undefined) return 'reading';
    return this.started ? 'waiting' : 'connecting';
  }

  fail(error: HttpFailure, lost = false): void {
    const { failure, detail } = error;
    this.finish({ kind: 'failure', failure, detail, durationMs: this.durationMs() }, lost);
    this.connection.hangUp();
  }

  abort(): void {
    this.finish({ kind: 'aborted' });
    this.connection.hangUp();
  }

  onRequestStart(): void {
    this.started = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    this.status = status;
    this.wait = retryAfterMs(headers['retry-after']);
    this.headers = keptHeaders(headers);
    this.encoding = encodingDetail(headers['content-encoding']);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.ended) return;
    const room = BODY_LIMIT_BYTES - this.received;
    // A copy, because the buffer belongs to the connection.
    this.chunks.push(Buffer.from(chunk.subarray(0, room)));
    this.received += chunk.length;
    if (chunk.length <= room) return;
    this.answer();
    this.connection.hangUp();
  }

  onResponseEnd(): void {
    this.answer();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (error instanceof errors.InvalidArgumentError) {
      // A bug of ours, not the receiver's fault.
      this.ended = true;
      this.reject(error);
      return;
    }
    const answerBegan = this.responseStart.hasBegun;
    const { certificateAsked } = this.connection;
    const failure = requestFailure(error, { answerBegan, certificateAsked });
    this.fail(failure, !answerBegan && isLostConnection(error));
  }

  private answer(): void {
    // An encoded body is no text.
    const isEncoded = this.encoding !== undefined && this.received > 0;
    this.finish({
      kind: 'response',
      status: this.status!,
      durationMs: this.durationMs(),
      headers: this.headers,
      ...(isEncoded
        ? { bodyStart: '', detail: this.encoding }
        : { bodyStart: textOfBody(Buffer.concat(this.chunks)) }),
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
