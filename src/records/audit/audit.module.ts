import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { PurgeTasks } from '#platform/database/purge/purge-tasks.js';
import { AuditEventEntity } from './audit-event.entity.js';
import { AuditRepository } from './audit.repository.js';
import { AuditService } from './audit.service.js';
import { AUDIT_PURGE } from './audit-purge.js';

@Module({
  imports: [TypeOrmModule.forFeature([AuditEventEntity])],
  providers: [AuditService, AuditRepository],
  exports: [AuditService],
})
export class AuditModule {
  constructor(purge: PurgeTasks) {
    purge.add(AUDIT_PURGE);
  }
}
