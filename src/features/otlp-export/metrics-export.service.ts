import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import type { MetricsExport } from './metrics-exporter.js';
import { GaugesService } from '#entrypoints/operations/gauges.service.js';

/** Sends the metrics over OTLP, if configured; otherwise nothing of it is loaded. */
@Injectable()
export class MetricsExportService implements OnApplicationBootstrap, OnApplicationShutdown {
  private running: MetricsExport | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly gauges: GaugesService,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { metricsExport } = this.settings;
    if (!metricsExport) return;
    const { startMetricsExport } = await import('./metrics-exporter.js');
    this.running = startMetricsExport(metricsExport, () => this.gauges.refresh(), new Logger('Metrics'));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.running?.stop();
  }
}
