import { ActivityModule } from '#records/activity/activity.module.js';
import { AuditModule } from '#records/audit/audit.module.js';
import { BrandModule } from '#records/brand/brand.module.js';
import { ClientsModule } from '#access/clients/clients.module.js';
import { ConsentsModule } from '#access/consents/consents.module.js';
import { IdentityProvidersModule } from '#access/identity-providers/identity-providers.module.js';
import { MailModule } from '#records/mail/mail.module.js';
import { NotificationsModule } from '#records/notifications/notifications.module.js';
import { PartnersModule } from '#events/partners/partners.module.js';
import { RequestsModule } from '#records/requests/requests.module.js';
import { ScopesModule } from '#access/scopes/scopes.module.js';
import { TokensModule } from '#access/tokens/tokens.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { WebhooksModule } from '#events/webhooks/webhooks.module.js';
import { AdminActionsModule } from './actions/admin-actions.module.js';

/** The modules whose services both the admin API and the console call. */
export const ADMINISTERED = [
  AuditModule,
  BrandModule,
  ClientsModule,
  ConsentsModule,
  WebhooksModule,
  TokensModule,
  MailModule,
  NotificationsModule,
  ScopesModule,
  UsersModule,
  ActivityModule,
  AdminActionsModule,
  IdentityProvidersModule,
  PartnersModule,
  RequestsModule,
];
