import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { stringify } from 'yaml';
import { brandValuesOf } from '#records/brand/brand.resource.js';
import { BrandService } from '#records/brand/brand.service.js';
import { isForeignKeyViolation, isUniqueViolation } from '#platform/database/queries/database-errors.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict } from '#platform/http/problems/problem.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import { OPERATOR_SCOPES, type ScopeAudience } from '#access/scopes/scope.entity.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import {
  EventCatalogueService,
  type WholeEventType,
} from '#events/webhooks/event-types/event-catalogue.service.js';
import { applyClients, applyConsents, applySecrets, planClients, removeClients } from './apply-clients.js';
import { refusedAs, type Applying, type ApplyOptions } from './applying.js';
import { differences, type Change } from './company-differences.js';
import { MARKS, type Company, type Entry } from './company-sections.js';
import { readCurrent, ownerEntry } from './current-company.js';
import type { CompanyDocument } from './read-company.js';
import type { SecretSource } from './secret-source.js';
import { requireTransaction } from '#platform/database/queries/transaction-around.js';
import { newId } from '#platform/secrets/ids.js';
import { emailKeyOf } from '#access/users/accounts/email.js';
import type { UserKind } from '#access/users/accounts/user.entity.js';
import { UsersService } from '#access/users/accounts/users.service.js';

/** Creates and changes the owners of the file. Returns the ids of all users whom it names, by the keys of their addresses. */
async function applyOwners({
  app,
  document,
  company,
  current,
  changes,
  attempt,
  actor,
}: Applying): Promise<Map<string, string>> {
  const users = app.get(UsersService);
  const ids = new Map([...current.users].map(([key, { id }]) => [key, id]));
  const created = [];
  const named = new Set<string>();
  for (const [email, { enabled, ...entry }] of Object.entries(company.owners ?? {})) {
    const place = ['owners', email];
    const user = current.users.get(emailKeyOf(email));
    const isNamed = named.has(emailKeyOf(email));
    named.add(emailKeyOf(email));
    if (isNamed || user?.role === 'operator') {
      document.note(
        place,
        isNamed ? 'is in the file twice' : 'is an operator, whose account no file changes',
      );
      continue;
    }
    // Left out, it stays as it is.
    const isEnabled = (enabled as boolean | undefined) ?? user?.enabled ?? true;
    const before = user && { ...ownerEntry(user), enabled: user.enabled };
    const lines = differences(before, { ...entry, ...(user || !isEnabled ? { enabled: isEnabled } : {}) });
    if (lines.length === 0) continue;
    changes.push({ sign: user ? '~' : '+', what: `owner ${email}`, lines });
    const values = {
      name: entry.name as string,
      kind: (entry.kind ?? 'individual') as UserKind,
      webhooksEnabled: (entry.webhooks_enabled ?? true) as boolean,
      enabled: isEnabled,
    };
    if (user) await attempt(place, () => users.update(user.id, values, actor));
    else created.push({ ...values, id: newId('user'), email, passwordHash: null });
  }
  await users.insertAll(created, actor);
  for (const { id, email } of created) ids.set(emailKeyOf(email), id);
  return ids;
}

// Any number that no other advisory lock of the service has.
const APPLYING = 1_702_260_343;

/** Lets one file be applied at a time, until the transaction ends; throws a 409 problem while another one is. */
async function holdApplyLock(dataSource: DataSource): Promise<void> {
  requireTransaction('A lock that is to last');
  const [row]: { held: boolean }[] = await dataSource.query(
    `SELECT pg_try_advisory_xact_lock(${APPLYING}) AS held`,
  );
  if (!row!.held) throw conflict('Another file is being applied. Try again when it is done.');
}

/** Rolls back a transaction on purpose. */
class NothingStays extends Error {}

/**
 * Applies a file in one transaction: all of it or nothing. A dry run does the same, and takes it back at the end, so that it refuses what
 * would be refused. Returns what changes; throws a 400 problem that lists what is refused.
 */
export async function applyCompany(
  app: INestApplicationContext,
  document: CompanyDocument,
  secrets: SecretSource,
  options: ApplyOptions,
): Promise<Change[]> {
  const company = await document.read();
  let changes: Change[] = [];
  try {
    await app.get(Transactions).run(async () => {
      document.forget();
      await holdApplyLock(app.get(DataSource));
      const current = await readCurrent(app, emailsOf(company));
      const attempt: Applying['attempt'] = async (place, work) => {
        try {
          await work();
        } catch (error) {
          document.noteRefusal(place, error);
        }
      };
      changes = [];
      await applyAll({
        ...{ app, document, company, current, changes, secrets, attempt },
        ...options,
      });
      if (options.dryRun) throw new NothingStays();
    });
  } catch (error) {
    if (isUniqueViolation(error) || isForeignKeyViolation(error)) {
      throw conflict('Something was changed at the same time; nothing was applied. Try again.');
    }
    if (!(error instanceof NothingStays)) throw error;
  }
  return changes;
}

/** The company as a file that, applied, changes nothing, and is refused if its end is missing. */
export function exportCompany(app: INestApplicationContext): Promise<string> {
  return app.get(Transactions).run(async () => {
    const { company } = await readCurrent(app, []);
    return stringify({ [MARKS.first]: true, ...company, [MARKS.last]: true }, { lineWidth: 0 });
  });
}

async function applyAll(applying: Applying): Promise<void> {
  const { app, document, actor, dryRun } = applying;
  const owners = await applyOwners(applying);
  const clients = planClients(applying, owners);
  // What holds a scope or a purpose goes before it.
  await removeClients(applying, clients);
  let n = 0;
  await putNamed(applying, 'scopes', (name, { description, translations = {}, audience }) =>
    app.get(ScopesService).put(
      {
        ...{ name, description: description as string, audience: audience as ScopeAudience },
        translations: translations as object,
      },
      actor,
      { unnumbered: --n },
    ),
  );
  await putNamed(applying, 'purposes', (name, { words }) =>
    app.get(PurposesService).put(name, words as Entry, actor),
  );
  await putNamed(
    applying,
    'event_types',
    (name, { versions, resource = null, translations = {}, ...type }) => {
      const whole = {
        ...{ ...type, name, resource, translations },
        versions: (versions as Entry[]).map(({ draft = false, ...version }) => ({ ...version, draft })),
      };
      return app.get(EventCatalogueService).putWhole(whole as WholeEventType, actor);
    },
  );
  await applyBrand(applying);
  await applyClients(applying, clients);
  if (!document.isRefused) await applyConsents(applying, clients, owners);
  await removeNamed(applying, 'event_types', (name) => app.get(EventCatalogueService).delete(name, actor));
  await removeNamed(applying, 'purposes', (name) => app.get(PurposesService).delete(name, actor));
  await removeNamed(applying, 'scopes', (name) => app.get(ScopesService).delete(name, actor));
  document.refuse();
  await applySecrets(applying, clients);
  if (n < 0 && !dryRun) await app.get(ScopesService).giveNumbers();
}

const CALLED = { scopes: 'scope', purposes: 'purpose', event_types: 'event type' } as const;
type NamedSection = keyof typeof CALLED;

async function putNamed(
  { company, current, changes, attempt }: Applying,
  section: NamedSection,
  put: (name: string, entry: Entry) => Promise<unknown>,
): Promise<void> {
  for (const [name, entry] of Object.entries(company[section] ?? {})) {
    const before = current.company[section][name];
    const lines = differences(before, entry);
    if (lines.length === 0) continue;
    changes.push({ sign: before ? '~' : '+', what: `${CALLED[section]} ${name}`, lines });
    await attempt([section, name], () => put(name, entry));
  }
}

async function removeNamed(
  { company, current, prune, changes, attempt }: Applying,
  section: NamedSection,
  remove: (name: string) => Promise<void>,
): Promise<void> {
  const named = company[section];
  if (!prune || !named) return;
  for (const name of Object.keys(current.company[section])) {
    // The service needs its own scopes, whatever a file says.
    if (Object.hasOwn(named, name) || (section === 'scopes' && OPERATOR_SCOPES.includes(name))) continue;
    const what = `${CALLED[section]} ${name}`;
    changes.push({ sign: '-', what, lines: [] });
    await attempt([section], () => refusedAs(`${what} cannot be removed`, () => remove(name)));
  }
}

async function applyBrand({ app, actor, company, current, changes, attempt }: Applying): Promise<void> {
  const lines = company.brand ? differences(current.company.brand, company.brand) : [];
  if (lines.length === 0) return;
  changes.push({ sign: '~', what: 'brand', lines });
  await attempt(['brand'], () => app.get(BrandService).change(brandValuesOf(company.brand!), actor));
}

function emailsOf({ owners = {}, clients = [] }: Company): string[] {
  const named = clients.flatMap(({ owner, consents = [] }) => [owner, ...consents.map(({ user }) => user)]);
  return [...new Set([...Object.keys(owners), ...named])];
}
