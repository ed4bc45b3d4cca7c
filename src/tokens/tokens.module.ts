import { Global, Module } from '@nestjs/common';
import { AccessTokensRepository } from './access-tokens.repository.js';
import { AccessTokensService } from './access-tokens.service.js';
import { AuthorizationCodesRepository } from './authorization-codes.repository.js';
import { AuthorizationCodesService } from './authorization-codes.service.js';
import { ConnectedClientsRepository } from './connected-clients.repository.js';
import { ConnectedClientsService } from './connected-clients.service.js';
import { GrantsRepository } from './grants.repository.js';
import { GrantsService } from './grants.service.js';
import { PurgeService } from './purge.service.js';
import { RefreshRotationService } from './refresh-rotation.service.js';
import { RefreshTokensRepository } from './refresh-tokens.repository.js';
import { TokenRevocationService } from './token-revocation.service.js';

/** Grants, codes and tokens: issued, found, rotated, revoked, purged. */
@Global()
@Module({
  providers: [
    AccessTokensRepository,
    AccessTokensService,
    AuthorizationCodesRepository,
    AuthorizationCodesService,
    ConnectedClientsRepository,
    ConnectedClientsService,
    GrantsRepository,
    GrantsService,
    PurgeService,
    RefreshRotationService,
    RefreshTokensRepository,
    TokenRevocationService,
  ],
  exports: [
    AccessTokensService,
    AuthorizationCodesService,
    ConnectedClientsService,
    GrantsService,
    PurgeService,
    RefreshRotationService,
    TokenRevocationService,
  ],
})
export class TokensModule {}
