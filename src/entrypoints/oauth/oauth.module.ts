import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Answers } from '#platform/database/domain/domain-map.js';
import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';
import { ActivityModule } from '#records/activity/activity.module.js';
import { ClientsModule } from '#access/clients/clients.module.js';
import { ConsentsModule } from '#access/consents/consents.module.js';
import { HttpModule } from '#platform/http/http.module.js';
import { IdentityProvidersModule } from '#access/identity-providers/identity-providers.module.js';
import { PartnersModule } from '#events/partners/partners.module.js';
import { SandboxModule } from '#events/sandbox/sandbox.module.js';
import { SandboxFaultsModule } from '#access/sandbox-faults/sandbox-faults.module.js';
import { ScopesModule } from '#access/scopes/scopes.module.js';
import { TokensModule } from '#access/tokens/tokens.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { AccessChangesController } from './access-changes/access-changes.controller.js';
import { ChangeFeed } from './access-changes/change-feed.service.js';
import { AuthorizationController } from './authorization/authorization.controller.js';
import { AuthorizationRequestChecks } from './authorization/authorization-request.checks.js';
import { AuthorizationService } from './authorization/authorization.service.js';
import { SandboxAuthorization } from './authorization/sandbox-authorization.service.js';
import { StartPageController } from './authorization/start-page.controller.js';
import { ClientAuthenticationGuard } from './clients/client-authentication.guard.js';
import { ClientAssertions } from './assertions/client-assertions.service.js';
import { ClientKeySets } from './assertions/client-key-sets.service.js';
import { ClientBasicStrategy } from './clients/client-basic.strategy.js';
import { IntrospectionGuard, IntrospectionBearerGuard } from './introspection/introspection.guard.js';
import { OAuthFormGuard } from './oauth-endpoint.js';
import { IntrospectionController } from './introspection/introspection.controller.js';
import { ParController } from './par/par.controller.js';
import { PushedRequestEntity, PushedRequestsRepository } from './par/pushed-requests.repository.js';
import { PushedRequests } from './par/pushed-requests.service.js';
import { RefusalCounts } from './refusal-counts.service.js';
import { MetadataController } from './metadata/metadata.controller.js';
import { SigningKeys } from './metadata/signing-keys.js';
import { RequestedResources } from './resources/requested-resources.service.js';
import { RevocationController } from './revocation/revocation.controller.js';
import { AuthorizationCodeGrant } from './token/authorization-code.grant.js';
import { ClientCredentialsGrant } from './token/client-credentials.grant.js';
import { RefreshTokenGrant } from './token/refresh-token.grant.js';
import { TokenController } from './token/token.controller.js';

/** The OAuth 2 endpoints and the consent pages. */
@Module({
  imports: [
    ClientsModule,
    UsersModule,
    ConsentsModule,
    ScopesModule,
    HttpModule,
    TokensModule,
    ActivityModule,
    IdentityProvidersModule,
    PartnersModule,
    SandboxModule,
    SandboxFaultsModule,
    TypeOrmModule.forFeature([PushedRequestEntity]),
  ],
  controllers: [
    AccessChangesController,
    AuthorizationController,
    IntrospectionController,
    MetadataController,
    ParController,
    RevocationController,
    StartPageController,
    TokenController,
  ],
  providers: [
    AuthorizationCodeGrant,
    AuthorizationRequestChecks,
    AuthorizationService,
    ChangeFeed,
    ClientAuthenticationGuard,
    ClientAssertions,
    ClientBasicStrategy,
    ClientKeySets,
    ClientCredentialsGrant,
    IntrospectionBearerGuard,
    IntrospectionGuard,
    OAuthFormGuard,
    PushedRequests,
    PushedRequestsRepository,
    RefreshTokenGrant,
    RefusalCounts,
    RequestedResources,
    SandboxAuthorization,
    SigningKeys,
  ],
  exports: [AuthorizationRequestChecks, SigningKeys],
})
export class OAuthModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [{ table: 'pushed_requests', by: 'expires_at' }];
  }
}
