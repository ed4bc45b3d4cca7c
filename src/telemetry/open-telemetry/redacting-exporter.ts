import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Logger } from '@nestjs/common';

/**
 * Exports spans without error messages, because the database repeats its input in them. Logs once when exporting fails, and once
 * when it works again.
 */
export class RedactingExporter implements SpanExporter {
  private isFailing = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly logger: Logger,
  ) {}

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    for (const span of spans) delete span.status.message;
    this.exporter.export(spans, (result) => {
      this.tell(result);
      done(result);
    });
  }

  async forceFlush(): Promise<void> {
    await this.exporter.forceFlush?.();
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  private tell({ code, error }: ExportResult): void {
    const fails = code !== ExportResultCode.SUCCESS;
    if (fails === this.isFailing) return;
    this.isFailing = fails;
    if (fails) {
      this.logger.warn(
        `Traces cannot be exported and are dropped: ${error?.message ?? 'no reason was given'}`,
      );
    } else {
      this.logger.log('Traces are exported again');
    }
  }
}
