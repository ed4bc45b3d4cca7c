import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Answers } from '#platform/database/domain/domain-map.js';
import { AuditEventEntity } from './audit-event.entity.js';
import { AuditRepository } from './audit.repository.js';
import { AuditService } from './audit.service.js';
import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

// One would be enough; with two, the service may be down for a month.
const MONTHS_AHEAD = 2;

@Module({
  imports: [TypeOrmModule.forFeature([AuditEventEntity])],
  providers: [AuditService, AuditRepository],
  exports: [AuditService],
})
export class AuditModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [
      // The function drops a month when its last entry is a year old, because the service's role must not delete from the audit log.
      { table: 'audit_events', by: 'id', partitions: `turn_audit_events(${MONTHS_AHEAD})` },
    ];
  }
}
