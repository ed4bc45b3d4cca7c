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

/** A series of a metric: `value` of a counter or a gauge, the rest of a histogram. */
interface ReceivedSeries {
  labels: Record<string, unknown>;
  value?: number;
  count?: number;
  sum?: number;
  bounds?: number[];
  counts?: number[];
}

/** A metric as sent in OTLP's JSON, with its series. */
export interface ReceivedMetric {
  kind: 'sum' | 'gauge' | 'histogram';
  description: string;
  isCumulative: boolean;
  resource: Record<string, unknown>;
  series: ReceivedSeries[];
}

interface SentPoint {
  attributes: Pair[];
  asDouble?: number;
  count?: number | string;
  sum?: number;
  explicitBounds?: number[];
  bucketCounts?: (number | string)[];
}
interface SentPoints {
  dataPoints: SentPoint[];
  aggregationTemporality?: number;
  isMonotonic?: boolean;
}
interface SentMetric {
  name: string;
  description: string;
  sum?: SentPoints;
  gauge?: SentPoints;
  histogram?: SentPoints;
}
interface SentMetrics {
  resourceMetrics: { resource: { attributes: Pair[] }; scopeMetrics: { metrics: SentMetric[] }[] }[];
}

/** A log record as sent in OTLP's JSON, with its attributes by name. */
export interface ReceivedLog {
  eventName: string;
  timeUnixNano: string;
  severityNumber: number;
  severityText: string;
  body: { stringValue: string };
  attributes: Record<string, unknown>;
  resource: Record<string, unknown>;
}

interface SentLogs {
  resourceLogs: {
    resource: { attributes: Pair[] };
    scopeLogs: { logRecords: (Omit<ReceivedLog, 'attributes' | 'resource'> & { attributes: Pair[] })[] }[];
  }[];
}

/** Receives spans, metrics and logs over OTLP/HTTP on a loopback port. */
export class OtlpCollector {
  /** Of its answers to every batch; undefined: it hangs up. */
  status: number | undefined = 200;
  /** The log records that it has confirmed, in their order. */
  readonly logs: ReceivedLog[] = [];

  private constructor(private readonly receiver: Receiver) {}

  static async start(): Promise<OtlpCollector> {
    const collector: OtlpCollector = new OtlpCollector(
      await Receiver.start((response, request) => {
        const { status } = collector;
        if (status === undefined) return void response.destroy();
        if (status === 200 && request.url.endsWith('/v1/logs')) collector.logs.push(...logsIn(request.body));
        response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
      }),
    );
    return collector;
  }

  get url(): string {
    return this.receiver.url('');
  }

  /** The requests it received, unchanged. */
  get received(): { url: string; headers: IncomingHttpHeaders; body: string }[] {
    return this.receiver.requests;
  }

  get spans(): ReceivedSpan[] {
    return this.received
      .filter(({ url }) => url.endsWith('/v1/traces'))
      .flatMap(({ body }) =>
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

  /** The metrics of each export, by name. */
  get exports(): Record<string, ReceivedMetric>[] {
    return this.received
      .filter(({ url }) => url.endsWith('/v1/metrics'))
      .map(({ body }) => {
        const [sent] = (JSON.parse(body) as SentMetrics).resourceMetrics;
        const resource = byName(sent!.resource.attributes);
        const metrics = sent!.scopeMetrics.flatMap(({ metrics: all }) => all);
        return Object.fromEntries(metrics.map((metric) => [metric.name, receivedMetric(metric, resource)]));
      });
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

const logsIn = (body: string): ReceivedLog[] =>
  (JSON.parse(body) as SentLogs).resourceLogs.flatMap(({ resource, scopeLogs }) =>
    scopeLogs.flatMap(({ logRecords }) =>
      logRecords.map((record) => ({
        ...record,
        attributes: byName(record.attributes),
        resource: byName(resource.attributes),
      })),
    ),
  );

function receivedMetric(sent: SentMetric, resource: Record<string, unknown>): ReceivedMetric {
  const kind = (['sum', 'gauge', 'histogram'] as const).find((each) => sent[each])!;
  const { dataPoints, aggregationTemporality } = sent[kind]!;
  const series = dataPoints.map((point) => ({
    labels: byName(point.attributes),
    ...(kind === 'histogram'
      ? {
          count: Number(point.count),
          sum: point.sum,
          bounds: point.explicitBounds,
          counts: point.bucketCounts!.map(Number),
        }
      : { value: point.asDouble }),
  }));
  const CUMULATIVE = 2;
  return {
    kind,
    description: sent.description,
    resource,
    series,
    isCumulative: aggregationTemporality === CUMULATIVE,
  };
}

const byName = (pairs: Pair[]): Record<string, unknown> =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, Object.values(value)[0]]));
