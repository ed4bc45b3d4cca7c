import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityModule } from '../activity/activity.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { ConsentsModule } from '../consents/consents.module.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { ScopesModule } from '../scopes/scopes.module.js';
import { UsersModule } from '../users/users.module.js';
import { PurgeTasks } from '../database/purge/purge-tasks.js';
import { AccessTokensRepository } from './access-tokens.repository.js';
import { AccessTokensService } from './access-tokens.service.js';
import { AuthorizationCodeEntity } from './authorization-code.entity.js';
import { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import { AuthorizationCodesService } from './authorization-codes.service.js';
import { BearerStrategy } from './bearer.strategy.js';
import { ConnectedClientsRepository } from './connected-clients.repository.js';
import { ConnectedClientsService } from './connected-clients.service.js';
import { GrantEntity } from './grant.entity.js';
import { GrantTokens } from './grant-tokens.service.js';
import { GrantsRepository } from './grants.repository.js';
import { GrantsService } from './grants.service.js';
import { RefreshTokensRepository } from './refresh-tokens.repository.js';
import { RefreshTokensService } from './refresh-tokens.service.js';
import { RevokedAccessTokenEntity } from './revoked-access-token.entity.js';
import { TokenKeyEntity } from './token-key.entity.js';
import { TokenKeysRepository } from './token-keys.repository.js';
import { TokenKeysService } from './token-keys.service.js';
import { TokenRevocationService } from './token-revocation.service.js';
import { TOKENS_PURGE } from './tokens-purge.js';

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
    AccessTokensRepository,
    AccessTokensService,
    AuthorizationCodesRepository,
    AuthorizationCodesService,
    BearerStrategy,
    ConnectedClientsRepository,
    ConnectedClientsService,
    GrantTokens,
    GrantsRepository,
    GrantsService,
    RefreshTokensRepository,
    RefreshTokensService,
    TokenKeysRepository,
    TokenKeysService,
    TokenRevocationService,
  ],
  exports: [
    AccessTokensService,
    AuthorizationCodesService,
    BearerStrategy,
    ConnectedClientsService,
    GrantsService,
    RefreshTokensService,
    TokenKeysService,
    TokenRevocationService,
  ],
})
export class TokensModule {
  constructor(purge: PurgeTasks, grants: GrantsRepository) {
    purge.add(TOKENS_PURGE, {
      table: 'grants',
      runBatch: (retentionDays, limit) => grants.postponeUsed(retentionDays, limit),
    });
  }
}
