import { ValueType, type Attributes } from '@opentelemetry/api';
import { millisToHrTime } from '@opentelemetry/core';
import type { Resource } from '@opentelemetry/resources';
import {
  AggregationTemporality,
  DataPointType,
  type CollectionResult,
  type DataPoint,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics';
import type { MetricObjectWithValues, MetricValueWithName, Registry } from 'prom-client';

type Metric = MetricObjectWithValues<MetricValueWithName<string>>;

/** The metrics that `GET /metrics` shows, as OpenTelemetry exports them: with the same names and labels. */
export class RegistryProducer implements MetricProducer {
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
