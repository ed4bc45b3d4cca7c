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
import { type PurgePreparation, type PurgeTask, RETENTION } from '#platform/database/purge/purge-tasks.js';
import { AccessTokensRepository, RevokedAccessTokenEntity } from './access/access-tokens.repository.js';
import { AccessTokensService } from './access/access-tokens.service.js';
import {
  AuthorizationCodesRepository,
  AuthorizationCodeEntity,
} from './codes/authorization-codes.repository.js';
import { AuthorizationCodesService } from './codes/authorization-codes.service.js';
import { BearerStrategy } from './access/bearer.guard.js';
import { DpopProofs } from './dpop/dpop-proofs.service.js';
import { DpopStrategy } from './dpop/dpop.strategy.js';
import { ConnectedClientsRepository } from './grants/connected-clients.repository.js';
import { ConnectedClientsService } from './grants/connected-clients.service.js';
import { GrantEntity } from './grants/grant.entity.js';
import { GrantTokens } from './grants/grant-tokens.service.js';
import { GrantsRepository } from './grants/grants.repository.js';
import { GrantsService } from './grants/grants.service.js';
import { RefreshTokensRepository } from './refresh/refresh-tokens.repository.js';
import { RefreshTokensService } from './refresh/refresh-tokens.service.js';
import { TokenKeyEntity } from './keys/token-key.entity.js';
import { TokenKeysRepository } from './keys/token-keys.repository.js';
import { TokenKeysService, TokenKeyRotationWorker } from './keys/token-keys.service.js';
import { TokenRevocationService } from './access/token-revocation.service.js';

/**
 * A consumed code is kept as long as its grant, so that a replay is noticed until the grant's last day. A grant is kept for the
 * retention time after its end, so that operators can look it up, and is purged with its codes.
 */
const TOKENS_PURGE: PurgeTask[] = [
  { table: 'revoked_access_tokens', by: 'expires_at' },
  { table: 'authorization_codes', by: 'expires_at', condition: 't.consumed_at IS NULL' },
  { table: 'grants', by: 'revoked_at', before: RETENTION },
  { table: 'grants', by: 'expires_at', before: RETENTION },
  {
    table: 'grants',
    by: 'look_again_at',
    before: RETENTION,
    condition: `t.refresh_expires_at < ${RETENTION}`,
  },
  // A change only matters to tokens issued before its commit.
  {
    table: 'access_changes',
    by: 'committed_by',
    before: `now() - interval '1 hour' - make_interval(secs => (
      SELECT coalesce(max(access_ttl), 0) FROM token_keys
       WHERE retired_at IS NULL OR retired_at > now() - make_interval(secs => access_ttl)))`,
  },
  // Kept as long as the last grant whose refresh tokens it signed, so that a replay is noticed until then.
  { table: 'token_keys', by: 'retired_at', before: `${RETENTION} - make_interval(secs => t.grant_ttl)` },
];

const EXPORTED = [
  AccessTokensService,
  AuthorizationCodesService,
  BearerStrategy,
  DpopProofs,
  DpopStrategy,
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
