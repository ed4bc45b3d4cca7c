import { getNumberFromEnv, type ExportResult, millisToHrTime } from '@opentelemetry/core';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http';
import {
  JsonMetricsSerializer,
  MetricsExporterMetricsHelper,
  ProtobufMetricsSerializer,
} from '@opentelemetry/otlp-transformer';
import {
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
  type ResourceMetrics,
  AggregationTemporality,
  DataPointType,
  type CollectionResult,
  type DataPoint,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { Logger } from '@nestjs/common';
import { setTimeout as after } from 'node:timers/promises';
import { register, type MetricObjectWithValues, type MetricValueWithName, type Registry } from 'prom-client';
import type { OtlpProtocol } from '#platform/config/otlp-protocol.js';
import {
  ExportWatch,
  LAST_EXPORT_MS,
  SERVICE_RESOURCE,
} from '#platform/telemetry/open-telemetry/export-watch.js';
import { ValueType, type Attributes } from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';

type Metric = MetricObjectWithValues<MetricValueWithName<string>>;

/** The metrics that `GET /metrics` shows, as OpenTelemetry exports them: with the same names and labels. */
class RegistryProducer implements MetricProducer {
  private readonly startTime = millisToHrTime(performance.timeOrigin);

  /** `refresh`: reads the gauges anew. */
  constructor(
    private readonly registry: Registry,
    private readonly resource: Resource,
    private readonly refresh: () => Promise<void>,
  ) {}

  async collect(): Promise<CollectionResult> {
    await this.refresh();
    const all: Metric[] = await this.registry.getMetricsAsJSON();
    const endTime = millisToHrTime(Date.now());
    const point = <T>(attributes: Attributes, value: T): DataPoint<T> => ({
      ...{ startTime: this.startTime, endTime, attributes, value },
    });
    const metrics = all.filter(({ values }) => values.length > 0).map((metric) => convert(metric, point));
    const scope = { name: 'prom-client' };
    return { resourceMetrics: { resource: this.resource, scopeMetrics: [{ scope, metrics }] }, errors: [] };
  }
}

function convert(
  { name, help, type, values }: Metric,
  point: <T>(attributes: Attributes, value: T) => DataPoint<T>,
): MetricData {
  const data = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  // prom-client names the type by a string, and by a number in its types.
  switch (String(type)) {
    case 'histogram': {
      const series = histogramsOf(name, values);
      const dataPoints = series.map(({ labels, histogram }) => point(labels, histogram));
      return { ...data, dataPointType: DataPointType.HISTOGRAM, dataPoints };
    }
    case 'counter': {
      const dataPoints = values.map(({ labels, value }) => point(labels as Attributes, value));
      return { ...data, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints };
    }
    default: {
      const dataPoints = values.map(({ labels, value }) => point(labels as Attributes, value));
      return { ...data, dataPointType: DataPointType.GAUGE, dataPoints };
    }
  }
}

/** Prometheus counts up to each bound, OpenTelemetry between two of them. */
function histogramsOf(name: string, values: Metric['values']) {
  const all = new Map<string, { labels: Attributes; histogram: Histogram; counted: number }>();
  for (const { labels: of, metricName, value } of values) {
    const { le, ...labels } = of as Attributes;
    const key = JSON.stringify(labels);
    let series = all.get(key);
    if (!series) {
      const buckets = { boundaries: [], counts: [] };
      series = { labels, histogram: { buckets, sum: 0, count: 0 }, counted: 0 };
      all.set(key, series);
    }
    const { histogram } = series;
    if (metricName === `${name}_sum`) histogram.sum = value;
    else if (metricName === `${name}_count`) histogram.count = value;
    else {
      if (le !== '+Inf') histogram.buckets.boundaries.push(Number(le));
      histogram.buckets.counts.push(value - series.counted);
      series.counted = value;
    }
  }
  return [...all.values()];
}

/** The metrics as they are sent over OTLP. */
export interface MetricsExport {
  /** Sends them once more; takes a second at most. */
  stop(): Promise<void>;
}

// What OpenTelemetry calls such an exporter in metrics about itself.
const COMPONENT = 'otlp_http_metric_exporter';

/**
 * Sends the metrics over OTLP every minute, or as OpenTelemetry's own variables say. Only loaded if that is configured. `refresh`
 * reads the gauges anew.
 */
export function startMetricsExport(
  protocol: OtlpProtocol,
  refresh: () => Promise<void>,
  logger: Logger,
): MetricsExport {
  const interval = getNumberFromEnv('OTEL_METRIC_EXPORT_INTERVAL');
  const reader = new PeriodicExportingMetricReader({
    exporter: new MetricsExporter(protocol, new ExportWatch('Metrics', logger)),
    metricProducers: [new RegistryProducer(register, SERVICE_RESOURCE, refresh)],
    ...(interval === undefined ? {} : { exportIntervalMillis: interval }),
  });
  const provider = new MeterProvider({ resource: SERVICE_RESOURCE, readers: [reader] });
  return {
    stop: async () => {
      const stopped = provider.shutdown().catch(() => undefined);
      await Promise.race([stopped, after(LAST_EXPORT_MS, undefined, { ref: false })]);
    },
  };
}

class MetricsExporter extends OTLPExporterBase<ResourceMetrics> implements PushMetricExporter {
  constructor(
    protocol: OtlpProtocol,
    private readonly watch: ExportWatch,
  ) {
    const [serializer, type] =
      protocol === 'http/json'
        ? [JsonMetricsSerializer, 'application/json']
        : [ProtobufMetricsSerializer, 'application/x-protobuf'];
    const options = convertLegacyHttpOptions({}, 'METRICS', 'v1/metrics', { 'Content-Type': type });
    super(
      createOtlpHttpExportDelegate(options, serializer, COMPONENT, MetricsExporterMetricsHelper, undefined),
    );
  }

  override export(metrics: ResourceMetrics, done: (result: ExportResult) => void): void {
    super.export(metrics, (result) => {
      this.watch.tell(result);
      done(result);
    });
  }
}
