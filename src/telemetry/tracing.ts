import type { FastifyReply, FastifyRequest } from 'fastify';

/** What a span says; never a secret, a URL or a parameter. */
export type SpanAttributes = Record<string, string | number | boolean>;

/** Traces as the rest of the service sees them; there is one only where `OTEL_EXPORTER_OTLP_ENDPOINT` is set. */
export interface Tracing {
  /** Runs the rest of a request in a span that continues the caller's trace; `end` ends it. Undefined for one that is not traced. */
  begin(request: FastifyRequest): RequestSpan | undefined;
  /** Runs work as the first span of a new trace; its result says what the span is to tell. */
  alone<T>(
    name: string,
    attributes: SpanAttributes,
    work: (traceId: string) => Promise<T>,
    outcome: (result: T) => SpanOutcome,
  ): Promise<T>;
  /** Sends what is left; takes a second at most. */
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

/** Undefined where nothing is traced. */
export const tracing = (): Tracing | undefined => present;

/** Called once, before the first request. */
export function setTracing(started: Tracing | undefined): void {
  present = started;
}
