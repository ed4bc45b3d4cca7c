import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { AccountModule } from '#entrypoints/account/account.module.js';
import { ActivityModule } from '#records/activity/activity.module.js';
import { ApiDocsModule } from '#entrypoints/api-docs/api-docs.module.js';
import { AdminModule } from '#entrypoints/admin/admin.module.js';
import { AuditModule } from '#records/audit/audit.module.js';
import { BrandModule } from '#records/brand/brand.module.js';
import { ClientsModule } from '#access/clients/clients.module.js';
import { ConfigModule } from '#platform/config/config.module.js';
import type { Settings } from '#platform/config/settings.js';
import { ConsentsModule } from '#access/consents/consents.module.js';
import { DatabaseModule } from '#platform/database/database.module.js';
import { DisclosuresModule } from '#events/disclosures/disclosures.module.js';
import { HttpModule } from '#platform/http/http.module.js';
import { IdentityProvidersModule } from '#access/identity-providers/identity-providers.module.js';
import { OAuthModule } from '#entrypoints/oauth/oauth.module.js';
import { MailModule } from '#records/mail/mail.module.js';
import { NotificationsModule } from '#records/notifications/notifications.module.js';
import { OperationsModule } from '#entrypoints/operations/operations.module.js';
import { PartnersModule } from '#events/partners/partners.module.js';
import { RequestsModule } from '#records/requests/requests.module.js';
import { PartnerApiModule } from '#entrypoints/partner-api/partner-api.module.js';
import { RateLimitsModule } from '#access/rate-limits/rate-limits.module.js';
import { SandboxModule } from '#events/sandbox/sandbox.module.js';
import { SandboxFaultsModule } from '#access/sandbox-faults/sandbox-faults.module.js';
import { ScopesModule } from '#access/scopes/scopes.module.js';
import { SignInModule } from '#entrypoints/sign-in/sign-in.module.js';
import { TelemetryModule } from '#platform/telemetry/telemetry.module.js';
import { TokensModule } from '#access/tokens/tokens.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { WebhookPortalModule } from '#entrypoints/webhook-portal/webhook-portal.module.js';
import { WebhooksModule } from '#events/webhooks/webhooks.module.js';
import { DOMAIN_EVENTS } from '#access/domain/domain-events.js';
import { DOMAIN_QUESTIONS } from '#access/domain/domain-questions.js';
import { FEATURES } from './features.js';

/** All modules; `more` are those of the demonstration. */
@Module({})
export class AppModule {
  static forRoot(settings: Settings, more: Type[] = []): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(settings),
        TelemetryModule.forRoot(settings),
        DatabaseModule.forRoot(settings, { ...DOMAIN_EVENTS, ...DOMAIN_QUESTIONS }),
        HttpModule,
        AuditModule,
        BrandModule,
        ActivityModule,
        MailModule,
        UsersModule,
        ScopesModule,
        ClientsModule,
        ConsentsModule,
        NotificationsModule,
        TokensModule,
        SandboxFaultsModule,
        RateLimitsModule.forRoot(settings),
        DisclosuresModule,
        WebhooksModule,
        PartnersModule,
        RequestsModule,
        SandboxModule,
        IdentityProvidersModule,
        OAuthModule,
        PartnerApiModule,
        WebhookPortalModule,
        AccountModule,
        SignInModule,
        AdminModule,
        ApiDocsModule,
        OperationsModule,
        ...FEATURES,
        ...more,
      ],
    };
  }
}
