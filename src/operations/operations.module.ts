import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { MailModule } from '../mail/mail.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { GaugesService } from './gauges.service.js';
import { MetricsExportService } from './metrics-export.service.js';
import { MetricsController } from './metrics.controller.js';
import { HealthController } from './health.controller.js';
import { ReadinessRepository } from './readiness.repository.js';
import { ReadinessService } from './readiness.service.js';

@Module({
  imports: [MailModule, WebhooksModule, TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController, MetricsController],
  providers: [GaugesService, MetricsExportService, ReadinessRepository, ReadinessService],
  exports: [ReadinessService],
})
export class OperationsModule {}
