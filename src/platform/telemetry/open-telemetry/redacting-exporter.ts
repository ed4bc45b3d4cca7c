import type { ExportResult } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Logger } from '@nestjs/common';
import { ExportWatch } from './export-watch.js';

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
