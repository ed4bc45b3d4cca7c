import type { Logger } from '@nestjs/common';
import { ExportResultCode, millisToHrTime } from '@opentelemetry/core';
import {
  convertLegacyHttpOptions,
  createOtlpHttpExportDelegate,
} from '@opentelemetry/otlp-exporter-base/node-http';
import {
  JsonLogsSerializer,
  LogsExporterMetricsHelper,
  ProtobufLogsSerializer,
} from '@opentelemetry/otlp-transformer';
import type { OtlpProtocol } from '#platform/config/otlp-protocol.js';
import {
  ExportWatch,
  SERVICE_NAME,
  SERVICE_RESOURCE,
} from '#platform/telemetry/open-telemetry/export-watch.js';

/** An entry of a log as OpenTelemetry has it; its attributes by the semantic conventions where there are some. */
export interface LogEntry {
  /** Says what attributes it has. */
  event: string;
  at: Date;
  severity: 'INFO' | 'WARN' | 'ERROR';
  body: string;
  /** Null where something is not known: left out. */
  attributes: Record<string, unknown>;
}

/** Entries of logs as they are sent over OTLP. */
export interface LogExport {
  /** False if the collector does not have them. */
  send(entries: readonly LogEntry[]): Promise<boolean>;
  /** What is being sent counts as not sent from now on. */
  giveUp(): void;
  stop(): Promise<void>;
}

type LogRecord = Parameters<typeof JsonLogsSerializer.serializeRequest>[0][number];

// What OpenTelemetry calls such an exporter in metrics about itself.
const COMPONENT = 'otlp_http_log_exporter';
// The numbers that OpenTelemetry gives them.
const SEVERITIES = { INFO: 9, WARN: 13, ERROR: 17 } as const;
// The same object for all: records are grouped by it.
const SCOPE = { name: SERVICE_NAME };

/** Sends entries of logs over OTLP, as OpenTelemetry's own variables say. Only loaded if that is configured. */
export function startLogExport(protocol: OtlpProtocol, logger: Logger): LogExport {
  const [serializer, type] =
    protocol === 'http/json'
      ? [JsonLogsSerializer, 'application/json']
      : [ProtobufLogsSerializer, 'application/x-protobuf'];
  const options = convertLegacyHttpOptions({}, 'LOGS', 'v1/logs', { 'Content-Type': type });
  const delegate = createOtlpHttpExportDelegate(
    options,
    serializer,
    COMPONENT,
    LogsExporterMetricsHelper,
    undefined,
  );
  const watch = new ExportWatch('The audit log and refused requests', logger, 'wait in the database');
  const waiting = new Set<(hasArrived: boolean) => void>();
  return {
    send: (entries) =>
      new Promise((resolve) => {
        waiting.add(resolve);
        delegate.export(entries.map(recordOf), (result) => {
          watch.tell(result);
          waiting.delete(resolve);
          resolve(result.code === ExportResultCode.SUCCESS);
        });
      }),
    giveUp: () => {
      for (const resolve of waiting) resolve(false);
    },
    stop: () => delegate.shutdown(),
  };
}

const recordOf = ({ event, at, severity, body, attributes }: LogEntry): LogRecord => ({
  ...{ eventName: event, body, severityText: severity, severityNumber: SEVERITIES[severity] },
  ...{ hrTime: millisToHrTime(at.getTime()), hrTimeObserved: millisToHrTime(Date.now()) },
  ...{ resource: SERVICE_RESOURCE, instrumentationScope: SCOPE, droppedAttributesCount: 0 },
  attributes: Object.fromEntries(
    Object.entries(attributes).filter(([, value]) => value !== null && value !== undefined),
  ) as LogRecord['attributes'],
});
