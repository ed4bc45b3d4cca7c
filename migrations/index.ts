import { People1764000000001 } from './1764000000001-people.js';
import { SignIn1764000000002 } from './1764000000002-sign-in.js';
import { Clients1764000000003 } from './1764000000003-clients.js';
import { Tokens1764000000004 } from './1764000000004-tokens.js';
import { AccessChanges1764000000005 } from './1764000000005-access-changes.js';
import { Notifications1764000000006 } from './1764000000006-notifications.js';
import { Mail1764000000007 } from './1764000000007-mail.js';
import { Webhooks1764000000008 } from './1764000000008-webhooks.js';
import { Portal1764000000009 } from './1764000000009-portal.js';
import { Sandbox1764000000010 } from './1764000000010-sandbox.js';
import { Operations1764000000011 } from './1764000000011-operations.js';
import { Partitions1764000000012 } from './1764000000012-partitions.js';
import { AuditLog1764000000013 } from './1764000000013-audit-log.js';
import { ClientDescriptions1795635911342 } from './1795635911342-client-descriptions.js';
import { ConsentRecords1795645377802 } from './1795645377802-consent-records.js';
import { Leaving1795645653799 } from './1795645653799-leaving.js';
import { ConsentChoices1795645771038 } from './1795645771038-consent-choices.js';
import { Disclosures1795645804586 } from './1795645804586-disclosures.js';
import { Brand1795645828790 } from './1795645828790-brand.js';
import { ClientIdentities1795645829078 } from './1795645829078-client-identities.js';
import { Purposes1795646200000 } from './1795646200000-purposes.js';
import { ScopeTranslations1795649212001 } from './1795649212001-scope-translations.js';
import { RequestRecords1795653600000 } from './1795653600000-request-records.js';
import { AccountDeletionEvents1795658767673 } from './1795658767673-account-deletion-events.js';
import { OwnEndsOfGrants1795659151886 } from './1795659151886-own-ends-of-grants.js';
import { Languages1795660000001 } from './1795660000001-languages.js';
import { OperatorInvitations1795670000000 } from './1795670000000-operator-invitations.js';
import { FailingEndpoints1795672485305 } from './1795672485305-failing-endpoints.js';
import { EventRequestIds1795672486994 } from './1795672486994-event-request-ids.js';
import { DisabledUsers1795675000000 } from './1795675000000-disabled-users.js';
import { FormAnswers1795906259814 } from './1795906259814-form-answers.js';
import { TestsOfClients1795910428627 } from './1795910428627-tests-of-clients.js';
import { PlainerWords1795911799970 } from './1795911799970-plainer-words.js';
import { EndpointSearch1795914809787 } from './1795914809787-endpoint-search.js';
import { AnnouncedEnds1795915989421 } from './1795915989421-announced-ends.js';
import { AddressesOfMails1795925026272 } from './1795925026272-addresses-of-mails.js';
import { ClientKeys1795948631231 } from './1795948631231-client-keys.js';
import { PushedRequests1795952759680 } from './1795952759680-pushed-requests.js';
import { SecurityProfiles1796010000000 } from './1796010000000-security-profiles.js';
import { ResourceIndicators1796110000000 } from './1796110000000-resource-indicators.js';
import { Filters1796310000000 } from './1796310000000-filters.js';
import { SigningKeys1796320000000 } from './1796320000000-signing-keys.js';
import { ReceiverAuthentication1796410000000 } from './1796410000000-receiver-authentication.js';
import { DeliveriesByDueTime1796430000000 } from './1796430000000-deliveries-by-due-time.js';
import { OrderedEndpoints1796440000000 } from './1796440000000-ordered-endpoints.js';
import { Batches1796450000000 } from './1796450000000-batches.js';

/** Every migration, oldest first. */
export const MIGRATIONS = [
  People1764000000001,
  SignIn1764000000002,
  Clients1764000000003,
  Tokens1764000000004,
  AccessChanges1764000000005,
  Notifications1764000000006,
  Mail1764000000007,
  Webhooks1764000000008,
  Portal1764000000009,
  Sandbox1764000000010,
  Operations1764000000011,
  Partitions1764000000012,
  AuditLog1764000000013,
  ClientDescriptions1795635911342,
  ConsentRecords1795645377802,
  Leaving1795645653799,
  ConsentChoices1795645771038,
  Disclosures1795645804586,
  Brand1795645828790,
  ClientIdentities1795645829078,
  Purposes1795646200000,
  ScopeTranslations1795649212001,
  RequestRecords1795653600000,
  AccountDeletionEvents1795658767673,
  OwnEndsOfGrants1795659151886,
  Languages1795660000001,
  OperatorInvitations1795670000000,
  FailingEndpoints1795672485305,
  EventRequestIds1795672486994,
  DisabledUsers1795675000000,
  FormAnswers1795906259814,
  TestsOfClients1795910428627,
  PlainerWords1795911799970,
  EndpointSearch1795914809787,
  AnnouncedEnds1795915989421,
  AddressesOfMails1795925026272,
  ClientKeys1795948631231,
  PushedRequests1795952759680,
  SecurityProfiles1796010000000,
  ResourceIndicators1796110000000,
  Filters1796310000000,
  SigningKeys1796320000000,
  ReceiverAuthentication1796410000000,
  DeliveriesByDueTime1796430000000,
  OrderedEndpoints1796440000000,
  Batches1796450000000,
];

/** The names of the migrations, as the database stores them. */
export const MIGRATION_NAMES: ReadonlySet<string> = new Set(
  MIGRATIONS.map((migration) => new migration().name),
);
