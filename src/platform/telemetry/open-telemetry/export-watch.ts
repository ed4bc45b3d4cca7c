import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { Logger } from '@nestjs/common';

/** Logs once when exporting fails, and once when it works again. */
export class ExportWatch {
  private isFailing = false;

  /** `what`: what is exported, as the start of a sentence; `fate`: what happens to it while the export fails. */
  constructor(
    private readonly what: string,
    private readonly logger: Logger,
    private readonly fate = 'are dropped',
  ) {}

  tell({ code, error }: ExportResult): void {
    const fails = code !== ExportResultCode.SUCCESS;
    if (fails === this.isFailing) return;
    this.isFailing = fails;
    if (fails) {
      this.logger.warn(
        `${this.what} cannot be exported and ${this.fate}: ${error?.message ?? 'no reason was given'}`,
      );
    } else {
      this.logger.log(`${this.what} are exported again`);
    }
  }
}
