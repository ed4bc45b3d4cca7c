import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityModule } from '#records/activity/activity.module.js';
import { AuditModule } from '#records/audit/audit.module.js';
import { ClientsModule } from '#access/clients/clients.module.js';
import { ConsentsModule } from '#access/consents/consents.module.js';
import { NotificationsModule } from '#records/notifications/notifications.module.js';
import { ScopesModule } from '#access/scopes/scopes.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import type { PurgePreparation, PurgeTask } from '#platform/database/purge/purge-tasks.js';
import { AccessTokensRepository } from './access/access-tokens.repository.js';
import { AccessTokensService } from './access/access-tokens.service.js';
import { AuthorizationCodeEntity } from './codes/authorization-code.entity.js';
import { AuthorizationCodesRepository } from './codes/authorization-codes.repository.js';
import { AuthorizationCodesService } from './codes/authorization-codes.service.js';
import { BearerStrategy } from './access/bearer.strategy.js';
import { ConnectedClientsRepository } from './grants/connected-clients.repository.js';
import { ConnectedClientsService } from './grants/connected-clients.service.js';
import { GrantEntity } from './grants/grant.entity.js';
import { GrantTokens } from './grants/grant-tokens.service.js';
import { GrantsRepository } from './grants/grants.repository.js';
import { GrantsPersonalData } from './grants/grants-personal-data.service.js';
import { GrantsService } from './grants/grants.service.js';
import { RefreshTokensRepository } from './refresh/refresh-tokens.repository.js';
import { RefreshTokensService } from './refresh/refresh-tokens.service.js';
import { RevokedAccessTokenEntity } from './access/revoked-access-token.entity.js';
import { TokenKeyEntity } from './keys/token-key.entity.js';
import { TokenKeysRepository } from './keys/token-keys.repository.js';
import { TokenKeyRotationWorker } from './keys/token-key-rotation.worker.js';
import { TokenKeysService } from './keys/token-keys.service.js';
import { TokenRevocationService } from './access/token-revocation.service.js';
import { TOKENS_PURGE } from './tokens-purge.js';

const EXPORTED = [
  AccessTokensService,
  AuthorizationCodesService,
  BearerStrategy,
  ConnectedClientsService,
  GrantsService,
  RefreshTokensService,
  TokenKeysService,
  TokenRevocationService,
];

/** Grants, codes and tokens: issued, found, rotated, revoked. */
@Module({
  imports: [
    ClientsModule,
    ScopesModule,
    ConsentsModule,
    ActivityModule,
    AuditModule,
    NotificationsModule,
    UsersModule,
    TypeOrmModule.forFeature([
      AuthorizationCodeEntity,
      GrantEntity,
      RevokedAccessTokenEntity,
      TokenKeyEntity,
    ]),
  ],
  providers: [
    ...EXPORTED,
    AccessTokensRepository,
    AuthorizationCodesRepository,
    ConnectedClientsRepository,
    GrantTokens,
    GrantsPersonalData,
    GrantsRepository,
    RefreshTokensRepository,
    TokenKeyRotationWorker,
    TokenKeysRepository,
  ],
  exports: EXPORTED,
})
export class TokensModule {
  constructor(private readonly grants: GrantsRepository) {}

  @Answers('purge.tasks')
  purged(): (PurgeTask | PurgePreparation)[] {
    return [
      ...TOKENS_PURGE,
      {
        table: 'grants',
        runBatch: (retentionDays, limit) => this.grants.postponeUsed(retentionDays, limit),
      },
    ];
  }
}
