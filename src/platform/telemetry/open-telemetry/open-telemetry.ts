import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Span,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator, type ExportResult } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import type { Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { setTimeout as after } from 'node:timers/promises';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { createRequire } from 'node:module';
import { keepLogScope } from '../log-scope.js';
import type { OtlpProtocol } from '#platform/config/otlp-protocol.js';
import type { RequestSpan, SpanAttributes, SpanOutcome, Tracing } from '../tracing.js';
import { ExportWatch, LAST_EXPORT_MS, SERVICE_NAME, SERVICE_RESOURCE } from './export-watch.js';

/** Exports spans without error messages, because the database repeats its input in them. */
export class RedactingExporter implements SpanExporter {
  private readonly watch: ExportWatch;

  constructor(
    private readonly exporter: SpanExporter,
    logger: Logger,
  ) {
    this.watch = new ExportWatch('Traces', logger);
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    for (const span of spans) delete span.status.message;
    this.exporter.export(spans, (result) => {
      this.watch.tell(result);
      done(result);
    });
  }

  async forceFlush(): Promise<void> {
    await this.exporter.forceFlush?.();
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }
}

// Requested every few seconds by machines.
const NOT_TRACED = /^\/(health\/|metrics$)/;

/**
 * Tracing with OpenTelemetry over OTLP. Endpoint, service name, sampling and headers are set by its standard variables
 * (`OTEL_…`), which its libraries read themselves. Only loaded if tracing is configured.
 */
export function startOpenTelemetry(protocol: OtlpProtocol, logger: Logger): Tracing {
  const exporter = protocol === 'http/json' ? new JsonExporter() : new ProtobufExporter();
  const provider = new BasicTracerProvider({
    resource: SERVICE_RESOURCE,
    spanProcessors: [new BatchSpanProcessor(new RedactingExporter(exporter, logger))],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  traceStatements();
  keepLogScope();
  return new OpenTelemetry(provider);
}

class OpenTelemetry implements Tracing {
  private readonly tracer;

  constructor(private readonly provider: BasicTracerProvider) {
    this.tracer = provider.getTracer(SERVICE_NAME);
  }

  begin({ headers, method, protocol, routeOptions, ip, id }: FastifyRequest): RequestSpan | undefined {
    const route = routeOptions.url;
    if (route !== undefined && NOT_TRACED.test(route)) return undefined;
    const parent = propagation.extract(ROOT_CONTEXT, headers);
    const attributes: SpanAttributes = {
      'http.request.method': method,
      'url.scheme': protocol,
      'client.address': ip,
      'request.id': id,
      ...(route === undefined ? {} : { 'http.route': route }),
    };
    const name = route === undefined ? method : `${method} ${route}`;
    const span = this.tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
    const inSpan = trace.setSpan(parent, span);
    return {
      traceId: span.spanContext().traceId,
      run: (work) => context.with(inSpan, work),
      end: (reply) => endRequest(span, reply),
    };
  }

  async alone<T>(
    name: string,
    attributes: SpanAttributes,
    work: (traceId: string) => Promise<T>,
    outcome: (result: T) => SpanOutcome,
  ): Promise<T> {
    const span = this.tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes, root: true });
    try {
      const result = await context.with(trace.setSpan(ROOT_CONTEXT, span), () =>
        work(span.spanContext().traceId),
      );
      const { attributes: told, failed } = outcome(result);
      span.setAttributes(told);
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
      return result;
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  }

  async stop(): Promise<void> {
    const stopped = this.provider.shutdown().catch(() => undefined);
    await Promise.race([stopped, after(LAST_EXPORT_MS, undefined, { ref: false })]);
  }
}

function endRequest(span: Span, { statusCode }: FastifyReply): void {
  span.setAttribute('http.response.status_code', statusCode);
  if (statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  span.end();
}

/**
 * Creates a span for each database statement of a traced request: its text, never its parameters. The driver is CommonJS, so
 * there is one copy of it in the process: requiring it again allows patching it in place, without loader hooks.
 */
function traceStatements(): void {
  const instrumentation = new PgInstrumentation({
    requireParentSpan: true,
    ignoreConnectSpans: true,
    enhancedDatabaseReporting: false,
  });
  instrumentation.enable();
  createRequire(import.meta.url)('pg');
}
