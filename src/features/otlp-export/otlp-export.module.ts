import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { OperationsModule } from '#entrypoints/operations/operations.module.js';
import { AuditModule } from '#records/audit/audit.module.js';
import { RequestsModule } from '#records/requests/requests.module.js';
import { LogExportEntity } from './log-export.entity.js';
import { LogExportService } from './log-export.service.js';
import { LogExportsRepository } from './log-exports.repository.js';
import { MetricsExportService } from './metrics-export.service.js';

/** Sends metrics, the audit log and refused requests over OTLP (contract §14). */
@Module({
  imports: [AuditModule, OperationsModule, RequestsModule, TypeOrmModule.forFeature([LogExportEntity])],
  providers: [LogExportService, LogExportsRepository, MetricsExportService],
})
export class OtlpExportModule {}
