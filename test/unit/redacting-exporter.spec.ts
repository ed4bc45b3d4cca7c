import { SpanStatusCode } from '@opentelemetry/api';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { BasicTracerProvider, SimpleSpanProcessor, type ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { RedactingExporter } from '#platform/telemetry/open-telemetry/open-telemetry.js';

const WORKS: ExportResult = { code: ExportResultCode.SUCCESS };
const FAILS: ExportResult = { code: ExportResultCode.FAILED, error: new Error('nobody listens') };

describe('the exporter of traces', () => {
  const said: string[] = [];
  const logger = { warn: (text: string) => said.push(text), log: (text: string) => said.push(text) };
  let result = WORKS;
  const sent: ReadableSpan[] = [];
  const exporter = new RedactingExporter(
    {
      export: (spans, done) => {
        sent.push(...spans);
        done(result);
      },
      shutdown: async () => undefined,
    },
    logger as never,
  );
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracer = provider.getTracer('test');
  const make = () => {
    const span = tracer.startSpan('a statement');
    span.setStatus({ code: SpanStatusCode.ERROR, message: 'invalid input syntax for type uuid: "a secret"' });
    span.end();
  };

  it('removes the database’s error message, which may repeat values', () => {
    make();
    expect(sent[0]!.status).toEqual({ code: SpanStatusCode.ERROR });
  });

  it('logs once when it fails, and once when it works again', () => {
    for (const next of [FAILS, FAILS, FAILS, WORKS, WORKS, FAILS]) {
      result = next;
      make();
    }
    expect(said).toEqual([
      'Traces cannot be exported and are dropped: nobody listens',
      'Traces are exported again',
      'Traces cannot be exported and are dropped: nobody listens',
    ]);
  });
});
