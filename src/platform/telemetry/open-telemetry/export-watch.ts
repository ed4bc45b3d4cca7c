import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import type { Logger } from '@nestjs/common';
import {
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';

export const SERVICE_NAME = 'charging-data-service';
// Contract §14: within the time of a shutdown.
export const LAST_EXPORT_MS = 1_000;

/**
 * What spans and metrics are about, with an id for each start, so that the numbers of instances are not mixed up; `OTEL_SERVICE_NAME`
 * and `OTEL_RESOURCE_ATTRIBUTES` win.
 */
export const SERVICE_RESOURCE = resourceFromAttributes({ 'service.name': SERVICE_NAME }).merge(
  detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }),
);

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
