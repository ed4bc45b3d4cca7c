import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '#records/audit/audit.module.js';
import { ClientsModule } from '#access/clients/clients.module.js';
import { IdentityProvidersModule } from '#access/identity-providers/identity-providers.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { type PurgePreparation, type PurgeTask, RETENTION } from '#platform/database/purge/purge-tasks.js';
import { ActionServices } from './admin-actions.js';
import { ApprovalEntity } from './approval.entity.js';
import { ApprovalsRepository } from './approvals.repository.js';
import { ApprovalsService } from './approvals.service.js';
import { FourEyes } from './four-eyes.service.js';

const APPROVALS_PURGE: PurgeTask[] = [{ table: 'approvals', by: 'expires_at', before: RETENTION }];

/** What waits for a second admin (contract §17), for the admin API and the console. */
@Module({
  imports: [
    AuditModule,
    ClientsModule,
    UsersModule,
    IdentityProvidersModule,
    TypeOrmModule.forFeature([ApprovalEntity]),
  ],
  providers: [ActionServices, ApprovalsRepository, ApprovalsService, FourEyes],
  exports: [ApprovalsService, FourEyes],
})
export class ApprovalsModule {
  constructor(private readonly approvals: ApprovalsRepository) {}

  @Answers('purge.tasks')
  purged(): (PurgeTask | PurgePreparation)[] {
    return [...APPROVALS_PURGE, { table: 'approvals', runBatch: () => this.approvals.forgetPasswords() }];
  }
}
