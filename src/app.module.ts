import { Module, type DynamicModule, type Type } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { AccountModule } from './account/account.module.js';
import { ActivityModule } from './activity/activity.module.js';
import { ApiDocsModule } from './api-docs/api-docs.module.js';
import { AdminModule } from './admin/admin.module.js';
import { AuditModule } from './audit/audit.module.js';
import { BrandModule } from './brand/brand.module.js';
import { ClientsModule } from './clients/clients.module.js';
import { ConfigModule } from './config/config.module.js';
import type { Settings } from './config/settings.js';
import { ConsentsModule } from './consents/consents.module.js';
import { DatabaseModule } from './database/database.module.js';
import { DisclosuresModule } from './disclosures/disclosures.module.js';
import { HttpModule } from './http/http.module.js';
import { IdentityProvidersModule } from './identity-providers/identity-providers.module.js';
import { OAuthModule } from './oauth/oauth.module.js';
import { MailModule } from './mail/mail.module.js';
import { NotificationsModule } from './notifications/notifications.module.js';
import { OperationsModule } from './operations/operations.module.js';
import { PartnersModule } from './partners/partners.module.js';
import { RequestsModule } from './requests/requests.module.js';
import { PartnerApiModule } from './partner-api/partner-api.module.js';
import { RateLimitsModule } from './rate-limits/rate-limits.module.js';
import { SandboxModule } from './sandbox/sandbox.module.js';
import { SandboxFaultsModule } from './sandbox-faults/sandbox-faults.module.js';
import { ScopesModule } from './scopes/scopes.module.js';
import { SignInModule } from './sign-in/sign-in.module.js';
import { TelemetryModule } from './telemetry/telemetry.module.js';
import { TokensModule } from './tokens/tokens.module.js';
import { UsersModule } from './users/users.module.js';
import { WebhookPortalModule } from './webhook-portal/webhook-portal.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/** All modules; `more` are those of the demonstration. */
@Module({})
export class AppModule {
  static forRoot(settings: Settings, more: Type[] = []): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.forRoot(settings),
        TelemetryModule.forRoot(settings),
        DatabaseModule.forRoot(settings),
        ScheduleModule.forRoot(),
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
        ...more,
      ],
    };
  }
}
