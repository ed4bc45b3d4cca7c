import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityModule } from '#records/activity/activity.module.js';
import { AuditModule } from '#records/audit/audit.module.js';
import { HttpModule } from '#platform/http/http.module.js';
import { NotificationsModule } from '#records/notifications/notifications.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { IdentitiesService } from './identities.service.js';
import { IdentitiesRepository } from './identities.repository.js';
import { IdentityEntity } from './identity.entity.js';
import { BackchannelLogoutController } from './logout/backchannel-logout.controller.js';
import { BackchannelLogout } from './logout/backchannel-logout.service.js';
import { LogoutTokensRepository, LogoutTokenEntity } from './logout/logout-tokens.repository.js';
import { SealedIdTokens } from './logout/sealed-id-tokens.service.js';
import { ProviderAuthentication } from './protocol/provider-authentication.service.js';
import { ProviderClients } from './protocol/provider-clients.service.js';
import { ProviderSecretEnds } from './protocol/provider-secret-ends.service.js';
import { RoleProviders } from './sign-in/role-providers.service.js';
import { OfferedProviders } from './sign-in/offered-providers.service.js';
import { PostedCallbackController } from './sign-in/posted-callback.controller.js';
import { PostedNames } from './sign-in/posted-names.service.js';
import { ProviderAccounts } from './sign-in/provider-accounts.service.js';
import { ProviderSignInController } from './sign-in/provider-sign-in.controller.js';
import { ProviderSignInsRepository, ProviderSignInEntity } from './sign-in/provider-sign-ins.repository.js';
import { ProviderSignIns } from './sign-in/provider-sign-ins.service.js';
import { ReAuthentication } from './sign-in/re-authentication.service.js';
import { SignInCookies } from './sign-in/sign-in-cookies.service.js';
import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

const EXPORTED = [RoleProviders, IdentitiesService, OfferedProviders, ReAuthentication];

/** Logging in through OpenID Connect providers (contract §15). */
@Module({
  imports: [
    HttpModule,
    AuditModule,
    ActivityModule,
    NotificationsModule,
    UsersModule,
    TypeOrmModule.forFeature([IdentityEntity, LogoutTokenEntity, ProviderSignInEntity]),
  ],
  controllers: [BackchannelLogoutController, PostedCallbackController, ProviderSignInController],
  providers: [
    ...EXPORTED,
    BackchannelLogout,
    IdentitiesRepository,
    LogoutTokensRepository,
    PostedNames,
    ProviderAccounts,
    ProviderAuthentication,
    ProviderClients,
    ProviderSecretEnds,
    ProviderSignIns,
    ProviderSignInsRepository,
    SealedIdTokens,
    SignInCookies,
  ],
  exports: EXPORTED,
})
export class IdentityProvidersModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [
      { table: 'provider_sign_ins', by: 'expires_at' },
      { table: 'logout_tokens', by: 'expires_at' },
    ];
  }
}
