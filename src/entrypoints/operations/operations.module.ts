import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '#records/audit/audit.module.js';
import { MailModule } from '#records/mail/mail.module.js';
import { RequestsModule } from '#records/requests/requests.module.js';
import { WebhooksModule } from '#events/webhooks/webhooks.module.js';
import { GaugesService } from './gauges.service.js';
import { LogExportEntity } from './log-export/log-export.entity.js';
import { LogExportService } from './log-export/log-export.service.js';
import { LogExportsRepository } from './log-export/log-exports.repository.js';
import { MetricsExportService } from './metrics-export.service.js';
import { MetricsController } from './metrics.controller.js';
import { HealthController } from './health.controller.js';
import { ReadinessRepository } from './readiness.repository.js';
import { ReadinessService } from './readiness.service.js';

@Module({
  imports: [
    AuditModule,
    MailModule,
    RequestsModule,
    TerminusModule.forRoot({ logger: false }),
    TypeOrmModule.forFeature([LogExportEntity]),
    WebhooksModule,
  ],
  controllers: [HealthController, MetricsController],
  providers: [
    GaugesService,
    LogExportService,
    LogExportsRepository,
    MetricsExportService,
    ReadinessRepository,
    ReadinessService,
  ],
  exports: [ReadinessService],
})
export class OperationsModule {}
