import { ActivityModule } from '../activity/activity.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { BrandModule } from '../brand/brand.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { ConsentsModule } from '../consents/consents.module.js';
import { IdentityProvidersModule } from '../identity-providers/identity-providers.module.js';
import { MailModule } from '../mail/mail.module.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { PartnersModule } from '../partners/partners.module.js';
import { RequestsModule } from '../requests/requests.module.js';
import { ScopesModule } from '../scopes/scopes.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { UsersModule } from '../users/users.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { ApprovalsModule } from './approvals/approvals.module.js';

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
  ApprovalsModule,
  IdentityProvidersModule,
  PartnersModule,
  RequestsModule,
];
