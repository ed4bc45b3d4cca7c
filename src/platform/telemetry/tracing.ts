import type { FastifyReply, FastifyRequest } from 'fastify';

/** The attributes of a span; never a secret, a URL or a parameter. */
export type SpanAttributes = Record<string, string | number | boolean>;

/** Tracing as used by the rest of the service; only present if there is an endpoint for traces. */
export interface Tracing {
  /**
   * Runs the rest of a request in a span that continues the caller's trace; `end` ends it. Undefined if the request is not
   * traced.
   */
  begin(request: FastifyRequest): RequestSpan | undefined;
  /** Runs work as the first span of a new trace; its result determines the attributes of the span. */
  alone<T>(
    name: string,
    attributes: SpanAttributes,
    work: (traceId: string) => Promise<T>,
    outcome: (result: T) => SpanOutcome,
  ): Promise<T>;
  /** Exports the remaining data; takes at most a second. */
  stop(): Promise<void>;
}

export interface RequestSpan {
  readonly traceId: string;
  run(work: () => void): void;
  end(reply: FastifyReply): void;
}

export interface SpanOutcome {
  attributes: SpanAttributes;
  failed: boolean;
}

let present: Tracing | undefined;

/** Undefined if tracing is off. */
export const tracing = (): Tracing | undefined => present;

/** Called once, before the first request. */
export function setTracing(started: Tracing | undefined): void {
  present = started;
}
