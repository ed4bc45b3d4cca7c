import { getNumberFromEnv, type ExportResult } from '@opentelemetry/core';
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
} from '@opentelemetry/sdk-metrics';
import type { Logger } from '@nestjs/common';
import { setTimeout as after } from 'node:timers/promises';
import { register } from 'prom-client';
import type { OtlpProtocol } from '#platform/config/otlp-protocol.js';
import { ExportWatch } from '#platform/telemetry/open-telemetry/export-watch.js';
import { RegistryProducer } from './registry-producer.js';
import { LAST_EXPORT_MS, SERVICE_RESOURCE } from '#platform/telemetry/open-telemetry/export-watch.js';

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
