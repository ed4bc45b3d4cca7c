import type { INestApplicationContext } from '@nestjs/common';
import { BRAND } from '#records/brand/brand.resource.js';
import { BrandService } from '#records/brand/brand.service.js';
import { ClientBatchesService } from '#access/clients/client-batches.service.js';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { CLIENT } from '#access/clients/client.resource.js';
import type { ConsentEntity } from '#access/consents/consent.entity.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { emailKeyOf } from '#access/users/accounts/email.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { EventTypesService } from '#events/webhooks/event-types/event-types.service.js';
import { bareOwner, timeOf, withoutDefaults } from './company-defaults.js';
import type { ClientEntry, Company, ConsentEntry, Entry } from './company-sections.js';

/** The company as the database has it. */
export interface CurrentCompany {
  company: Required<Company>;
  clients: ClientEntity[];
  consents: ConsentEntity[];
  /** Everybody whom the company or a file names, by the key of the address. */
  users: Map<string, UserEntity>;
}

/** Reads the company, and the users with these addresses. */
export async function readCurrent(
  app: INestApplicationContext,
  emails: readonly string[],
): Promise<CurrentCompany> {
  const brand = await app.get(BrandService).readStored();
  const scopes = await app.get(ScopesService).list();
  const purposes = await app.get(PurposesService).list();
  const types = await app.get(EventTypesService).listOfServices();
  const clients = await app.get(ClientBatchesService).list();
  const services = clients.flatMap(({ id, companyService }) => (companyService ? [id] : []));
  const consents = await app.get(ConsentsService).listAll(services);
  const ids = [
    ...new Set([...clients.map(({ ownerId }) => ownerId), ...consents.map(({ userId }) => userId)]),
  ];
  const users = await app.get(UsersService).listNamed({ ids, emails, organisations: true });
  const emailOf = new Map(users.map(({ id, email }) => [id, email]));
  const byClient = grouped(consents, ({ clientId }) => clientId);
  const owning = new Set(clients.map(({ ownerId }) => ownerId));
  const company = withoutDefaults({
    brand: BRAND.bodyOf(brand),
    scopes: byName(scopes, ({ description, translations, audience }) => ({
      description,
      translations,
      audience,
    })),
    purposes: byName(purposes, ({ words }) => ({ words })),
    event_types: byName(types, ({ description, translations, scope, sample, resource, versions }) => ({
      ...{ description, translations, scope, sample, resource },
      versions: versions.map(({ schema, draft }) => ({ schema, draft })),
    })),
    owners: Object.fromEntries(
      users
        // Operators are no part of a company file: it gives nobody power, and takes nobody's.
        .filter(({ id, role, kind }) => role === 'user' && (kind === 'organisation' || owning.has(id)))
        .map((user) => [user.email, ownerEntry(user)]),
    ),
    clients: clients.map((client) => ({
      ...clientEntry(client, emailOf.get(client.ownerId)!),
      consents: consentEntries(byClient.get(client.id) ?? [], emailOf),
    })),
  }) as Required<Company>;
  const byKey = new Map(users.map((user) => [emailKeyOf(user.email), user]));
  return { company, clients, consents, users: byKey };
}

/** An owner as a file writes it. */
export const ownerEntry = ({ name, kind, webhooksEnabled, enabled }: UserEntity): Entry =>
  bareOwner({ name, kind, webhooks_enabled: webhooksEnabled, ...(enabled ? {} : { enabled }) });

const byName = <T extends { name: string }>(
  all: readonly T[],
  entry: (each: T) => Record<string, unknown>,
): Record<string, Record<string, unknown>> => Object.fromEntries(all.map((each) => [each.name, entry(each)]));

function clientEntry(client: ClientEntity, owner: string): ClientEntry {
  const members: Partial<ReturnType<typeof CLIENT.bodyOf>> & { name: string } = CLIENT.bodyOf(client);
  delete members.owner_id;
  return {
    client_id: client.id,
    ...members,
    owner,
    ...(client.enabled ? {} : { enabled: false }),
  };
}

/** Those that an operator recorded, and that hold. */
const consentEntries = (consents: ConsentEntity[], emailOf: Map<string, string>): ConsentEntry[] =>
  consents.filter(isRecorded).map(({ userId, scopes, grantedAt, expiresAt, evidence }) => ({
    user: emailOf.get(userId)!,
    scopes,
    granted_at: timeOf(grantedAt),
    ...(expiresAt === null ? {} : { expires_at: timeOf(expiresAt) }),
    evidence: evidence!,
  }));

/** Whether an operator recorded a consent that holds. */
export const isRecorded = ({ method, revokedAt, expiresAt, evidence }: ConsentEntity): boolean =>
  (method === 'import' || method === 'operator') &&
  evidence !== null &&
  revokedAt === null &&
  (expiresAt === null || expiresAt.getTime() > Date.now());

/** The items by a key, in their order. */
export function grouped<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
