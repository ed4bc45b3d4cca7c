import type { IncomingHttpHeaders } from 'node:http';
import { Receiver } from './receiver.js';
import { until } from './until.js';

/** A span as sent in OTLP's JSON, with its attributes by name. */
export interface ReceivedSpan {
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  kind: number;
  status: { code?: number; message?: string };
  attributes: Record<string, unknown>;
  resource: Record<string, unknown>;
}

interface Pair {
  key: string;
  value: Record<string, unknown>;
}
interface Sent {
  resourceSpans: {
    resource: { attributes: Pair[] };
    scopeSpans: { spans: (Omit<ReceivedSpan, 'attributes' | 'resource'> & { attributes: Pair[] })[] }[];
  }[];
}

/** Receives spans over OTLP/HTTP on a loopback port. */
export class TraceCollector {
  private constructor(private readonly receiver: Receiver) {}

  /** Answers every batch with this status. */
  static async start(status = 200): Promise<TraceCollector> {
    const receiver = await Receiver.start((response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
    return new TraceCollector(receiver);
  }

  get url(): string {
    return this.receiver.url('');
  }

  /** The requests it received, unchanged. */
  get received(): { url: string; headers: IncomingHttpHeaders; body: string }[] {
    return this.receiver.requests;
  }

  get spans(): ReceivedSpan[] {
    return this.received.flatMap(({ body }) =>
      (JSON.parse(body) as Sent).resourceSpans.flatMap(({ resource, scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) =>
          spans.map((span) => ({
            ...span,
            attributes: byName(span.attributes),
            resource: byName(resource.attributes),
          })),
        ),
      ),
    );
  }

  /** Waits for the first matching span. */
  async span(what: string, isIt: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
    await until(`the span of ${what} has come`, () => this.spans.some(isIt));
    return this.spans.find(isIt)!;
  }

  stop(): Promise<void> {
    return this.receiver.stop();
  }
}

const byName = (pairs: Pair[]): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));
