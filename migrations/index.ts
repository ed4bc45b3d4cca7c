import { InitialSchema1763629200000 } from './1763629200000-initial-schema.js';
import { Notifications1763632000000 } from './1763632000000-notifications.js';
import { Webhooks1763640000000 } from './1763640000000-webhooks.js';
import { Account1763650000000 } from './1763650000000-account.js';
import { Activity1763660000000 } from './1763660000000-activity.js';
import { SearchIndexes1763660000001 } from './1763660000001-search-indexes.js';
import { AccessChanges1763670000000 } from './1763670000000-access-changes.js';
import { SealedSuccessors1763680000000 } from './1763680000000-sealed-successors.js';
import { NotificationChanges1763691000000 } from './1763691000000-notification-changes.js';
import { PasswordLinkForms1763693000000 } from './1763693000000-password-link-forms.js';
import { ErasedPeople1763694000000 } from './1763694000000-erased-people.js';
import { RequiredMigrations1763695000000 } from './1763695000000-required-migrations.js';
import { AuditTrailOfTheOwner1763695100000 } from './1763695100000-audit-trail-of-the-owner.js';
import { NotificationRetention1763695200000 } from './1763695200000-notification-retention.js';
import { EncryptionCanary1763695300000 } from './1763695300000-encryption-canary.js';
import { TokenKeys1763699100000 } from './1763699100000-token-keys.js';
import { AccessChangeWindow1763699200000 } from './1763699200000-access-change-window.js';
import { TokensWithoutRows1763699300000 } from './1763699300000-tokens-without-rows.js';
import { SessionMethods1763700000000 } from './1763700000000-session-methods.js';
import { Mail1763700100000 } from './1763700100000-mail.js';
import { IdentityProviders1763700200000 } from './1763700200000-identity-providers.js';
import { SecondFactors1763700300000 } from './1763700300000-second-factors.js';
import { OperatorRoles1763740000000 } from './1763740000000-operator-roles.js';
import { Environments1763800100000 } from './1763800100000-environments.js';
import { Sandbox1763800110000 } from './1763800110000-sandbox.js';
import { PartnerPortal1763800200000 } from './1763800200000-partner-portal.js';
import { EventSchemas1763800300000 } from './1763800300000-event-schemas.js';
import { EndpointOptions1763800400000 } from './1763800400000-endpoint-options.js';
import { AccessChangeSubjects1763800500000 } from './1763800500000-access-change-subjects.js';
import { CompanyServices1763900000000 } from './1763900000000-company-services.js';
import { SessionIdTokens1763902000000 } from './1763902000000-session-id-tokens.js';
import { OperatorSessions1763903000000 } from './1763903000000-operator-sessions.js';
import { RecoveryCodesOfApps1763903010000 } from './1763903010000-recovery-codes-of-apps.js';
import { RequestsThroughMail1763904000000 } from './1763904000000-requests-through-mail.js';
import { RequestIdLookup1763904010000 } from './1763904010000-request-id-lookup.js';
import { MailValidity1763905000000 } from './1763905000000-mail-validity.js';
import { DeliveryListIndexes1763905010000 } from './1763905010000-delivery-list-indexes.js';

/** Every migration, oldest first. */
export const MIGRATIONS = [
  InitialSchema1763629200000,
  Notifications1763632000000,
  Webhooks1763640000000,
  Account1763650000000,
  Activity1763660000000,
  SearchIndexes1763660000001,
  AccessChanges1763670000000,
  SealedSuccessors1763680000000,
  NotificationChanges1763691000000,
  PasswordLinkForms1763693000000,
  ErasedPeople1763694000000,
  RequiredMigrations1763695000000,
  AuditTrailOfTheOwner1763695100000,
  NotificationRetention1763695200000,
  EncryptionCanary1763695300000,
  TokenKeys1763699100000,
  AccessChangeWindow1763699200000,
  TokensWithoutRows1763699300000,
  SessionMethods1763700000000,
  Mail1763700100000,
  IdentityProviders1763700200000,
  SecondFactors1763700300000,
  OperatorRoles1763740000000,
  Environments1763800100000,
  Sandbox1763800110000,
  PartnerPortal1763800200000,
  EventSchemas1763800300000,
  EndpointOptions1763800400000,
  AccessChangeSubjects1763800500000,
  CompanyServices1763900000000,
  SessionIdTokens1763902000000,
  OperatorSessions1763903000000,
  RecoveryCodesOfApps1763903010000,
  RequestsThroughMail1763904000000,
  RequestIdLookup1763904010000,
  MailValidity1763905000000,
  DeliveryListIndexes1763905010000,
];

/** The names of the migrations, as the database stores them. */
export const MIGRATION_NAMES: ReadonlySet<string> = new Set(
  MIGRATIONS.map((migration) => new migration().name),
);
