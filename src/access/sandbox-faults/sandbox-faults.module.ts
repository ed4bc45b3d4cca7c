import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '#records/audit/audit.module.js';
import { TokensModule } from '#access/tokens/tokens.module.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { SandboxFaultEntity } from './sandbox-fault.entity.js';
import { SandboxFaultsRepository } from './sandbox-faults.repository.js';
import { SandboxFaultsService } from './sandbox-faults.service.js';
import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

/** Faults that partners ask for in their sandbox. */
@Module({
  imports: [AuditModule, TokensModule, TypeOrmModule.forFeature([SandboxFaultEntity])],
  providers: [SandboxFaultsRepository, SandboxFaultsService],
  exports: [SandboxFaultsService],
})
export class SandboxFaultsModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [{ table: 'sandbox_faults', by: 'expires_at' }];
  }
}
