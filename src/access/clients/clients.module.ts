import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Answers } from '#platform/database/domain/domain-map.js';
import { ActivityModule } from '#records/activity/activity.module.js';
import { AuditModule } from '#records/audit/audit.module.js';
import { BrandModule } from '#records/brand/brand.module.js';
import { ScopesModule } from '#access/scopes/scopes.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { ClientEntity } from './client.entity.js';
import { ClientSecretEntity } from './client-secret.entity.js';
import { ClientAuthenticationService } from './client-authentication.service.js';
import { ClientBatchesService } from './client-batches.service.js';
import { ClientSecretsService } from './client-secrets.service.js';
import { ClientsRepository } from './clients.repository.js';
import { OperatorClientsRepository } from './operator-clients.repository.js';
import { OperatorClientsService } from './operator-clients.service.js';
import { KnownClientsService } from './known-clients.service.js';
import { ClientsPersonalData } from './clients-personal-data.service.js';
import { ClientsService } from './clients.service.js';
import { ClientKeyUseEntity, ClientSecretUseEntity, SecretUsesRepository } from './secret-uses.repository.js';
import { SecretUsesService } from './secret-uses.service.js';
import { ClientKeysService } from './keys/client-keys.service.js';
import { UsedProofEntity, UsedProofsRepository } from './proofs/used-proofs.repository.js';
import { KnownResourcesRepository } from './resources/known-resources.repository.js';
import { KnownResources } from './resources/known-resources.service.js';
import { UsedProofs } from './proofs/used-proofs.service.js';
import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

const EXPORTED = [
  ClientAuthenticationService,
  ClientBatchesService,
  ClientSecretsService,
  ClientsService,
  ClientKeysService,
  KnownClientsService,
  KnownResources,
  SecretUsesService,
  UsedProofs,
];

/** OAuth clients, their secrets, and client authentication. */
@Module({
  imports: [
    ActivityModule,
    ScopesModule,
    AuditModule,
    BrandModule,
    UsersModule,
    TypeOrmModule.forFeature([
      ClientEntity,
      ClientSecretEntity,
      ClientSecretUseEntity,
      ClientKeyUseEntity,
      UsedProofEntity,
    ]),
  ],
  providers: [
    ...EXPORTED,
    ClientsPersonalData,
    ClientsRepository,
    KnownResourcesRepository,
    OperatorClientsRepository,
    OperatorClientsService,
    SecretUsesRepository,
    UsedProofsRepository,
  ],
  exports: EXPORTED,
})
export class ClientsModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [
      // Noted until no instance would accept them any more.
      { table: 'used_proofs', by: 'expires_at' },
      { table: 'client_key_uses', by: 'last_used_at', before: RETENTION },
    ];
  }
}
