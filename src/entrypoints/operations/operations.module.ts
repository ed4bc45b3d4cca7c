import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { MailModule } from '#records/mail/mail.module.js';
import { WebhooksModule } from '#events/webhooks/webhooks.module.js';
import { GaugesService } from './gauges.service.js';
import { MetricsController } from './metrics.controller.js';
import { HealthController } from './health.controller.js';
import { ReadinessRepository } from './readiness.repository.js';
import { ReadinessService } from './readiness.service.js';

@Module({
  imports: [MailModule, TerminusModule.forRoot({ logger: false }), WebhooksModule],
  controllers: [HealthController, MetricsController],
  providers: [GaugesService, ReadinessRepository, ReadinessService],
  exports: [GaugesService, ReadinessService],
})
export class OperationsModule {}
