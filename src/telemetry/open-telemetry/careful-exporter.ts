import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import type { Logger } from '@nestjs/common';

/**
 * Sends spans without the messages of errors, in which the database repeats what it was given, and says once that they
 * cannot be sent and once that they can again.
 */
export class CarefulExporter implements SpanExporter {
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
      this.logger.warn(`Traces cannot be sent and are dropped: ${error?.message ?? 'no reason was given'}`);
    } else {
      this.logger.log('Traces are sent again');
    }
  }
}
