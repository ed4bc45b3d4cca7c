import { ClientBatchesService } from '#access/clients/client-batches.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { CLIENT } from '#access/clients/client.resource.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import { conflict } from '#platform/http/problems/problem.js';
import { apiWords, violation } from '#platform/http/problems/violation.js';
import { newId } from '#platform/secrets/ids.js';
import { digestOf } from '#platform/secrets/tokens.js';
import { emailKeyOf } from '#access/users/accounts/email.js';
import { refusedAs, type Applying } from './applying.js';
import { differences, type Change } from './company-differences.js';
import type { ClientEntry } from './company-sections.js';
import { grouped, isRecorded } from './current-company.js';
import type { Place } from './read-company.js';

/** A client of the file, and which one it is. */
export interface PlannedClient {
  place: Place;
  entry: ClientEntry;
  id: string;
  ownerId: string;
  /** As the database has it; undefined for a new one. */
  before: ClientEntry | undefined;
  /** Where its change is told. */
  change?: Change;
}

/** Finds out which clients the file means: by `client_id`, or by owner, environment and name. */
export function planClients(
  { document, company, current }: Applying,
  owners: ReadonlyMap<string, string>,
): PlannedClient[] {
  const entries = new Map(current.company.clients.map((client) => [client.client_id!, client]));
  const byName = grouped(current.clients, identityOf);
  const taken = new Set<string>();
  return (company.clients ?? []).flatMap((entry, n) => {
    const place: Place = ['clients', n];
    const ownerId = owners.get(emailKeyOf(entry.owner));
    if (ownerId === undefined) {
      document.note([...place, 'owner'], 'is neither an owner in the file nor a user');
      return [];
    }
    const environment = (entry.environment ?? 'live') as string;
    const same = byName.get(identityOf({ ownerId, environment, name: entry.name })) ?? [];
    if (entry.client_id === undefined && same.length > 1) {
      document.note(
        [...place, 'name'],
        'is the name of several clients of this owner: say which by client_id',
      );
      return [];
    }
    const id = entry.client_id ?? same[0]?.id ?? newId('clnt');
    const identity = entry.client_id ?? identityOf({ ownerId, environment, name: entry.name });
    if (taken.has(id) || taken.has(identity)) {
      document.note(place, 'is in the file twice');
      return [];
    }
    taken.add(id).add(identity);
    return [{ place, entry, id, ownerId, before: entries.get(id) }];
  });
}

const identityOf = ({
  ownerId,
  environment,
  name,
}: {
  ownerId: string;
  environment: string;
  name: string;
}): string => JSON.stringify([ownerId, environment, name]);

/** Removes the clients that the file does not name. */
export async function removeClients(
  { app, actor, company, current, prune, changes, attempt }: Applying,
  planned: readonly PlannedClient[],
): Promise<void> {
  if (!prune || !company.clients) return;
  const kept = new Set(planned.map(({ id }) => id));
  for (const { id, name } of current.clients) {
    if (kept.has(id)) continue;
    changes.push({ sign: '-', what: called({ id, name }), lines: [] });
    await attempt(['clients'], () =>
      refusedAs(`${called({ id, name })} cannot be removed`, () => app.get(ClientsService).delete(id, actor)),
    );
  }
}

const called = ({ id, name }: { id: string; name: string }): string => `client ${name} (${id})`;

/** Creates and changes clients, in a few statements for all. */
export async function applyClients(applying: Applying, planned: readonly PlannedClient[]): Promise<void> {
  const { app, actor, document } = applying;
  const changed = planned.filter((client) => {
    const { entry, before } = client;
    // An address is the same however it is written, and whether it is enabled stays as it is if it is left out.
    const isSameOwner = before && emailKeyOf(before.owner) === emailKeyOf(entry.owner);
    const owner = isSameOwner ? before.owner : entry.owner;
    const was = before && { ...before, enabled: before.enabled ?? true };
    const wanted = { ...entry, owner, enabled: entry.enabled ?? was?.enabled };
    const lines = differences(was && ownMembers(was), ownMembers(wanted));
    if (lines.length > 0) tell(applying, client, lines);
    return lines.length > 0;
  });
  const wanted = changed.map(({ id, before, ownerId, entry }) => ({
    id,
    isNew: !before,
    input: { ...CLIENT.newOf(entry as never), ownerId },
    enabled: entry.enabled,
  }));
  const refused = await app.get(ClientBatchesService).put(wanted, actor);
  for (const [n, problem] of refused) document.noteRefusal(changed[n]!.place, problem);
}

/** What is compared of a client by itself. */
const ownMembers = (entry: ClientEntry): object =>
  Object.fromEntries(
    Object.entries(entry).filter(
      ([name, value]) => !['client_id', 'secret', 'consents'].includes(name) && value !== undefined,
    ),
  );

/** Adds lines to the report about a client. */
function tell({ changes, dryRun }: Applying, client: PlannedClient, lines: readonly string[]): void {
  if (!client.change) {
    const { id, entry, before } = client;
    // The id of a new one is known once it is there.
    const isKnown = before || entry.client_id || !dryRun;
    const what = isKnown ? called({ id, name: entry.name }) : `client ${entry.name}`;
    client.change = { sign: before ? '~' : '+', what, lines: [] };
    changes.push(client.change);
  }
  client.change.lines.push(...lines);
}

/**
 * Brings the recorded consents of the company's services along. What a user decided since then stays: a consent that ended later, or that
 * the user gave.
 */
export async function applyConsents(
  applying: Applying,
  planned: readonly PlannedClient[],
  users: ReadonlyMap<string, string>,
): Promise<void> {
  const { app, actor, document, current, attempt } = applying;
  const known = new Map(
    current.consents.map((consent) => [`${consent.clientId} ${consent.userId}`, consent]),
  );
  for (const client of planned) {
    const { entry, place, id, before } = client;
    const recorded = new Map((before?.consents ?? []).map((consent) => [consent.user, consent]));
    if (entry.consents && entry.company_service !== true) {
      document.note([...place, 'consents'], 'are only for a service of the company (company_service: true)');
      continue;
    }
    for (const [n, { user, scopes, granted_at, expires_at, evidence }] of (entry.consents ?? []).entries()) {
      const at = [...place, 'consents', n];
      const userId = users.get(emailKeyOf(user));
      if (userId === undefined) {
        document.note([...at, 'user'], apiWords(violation('unknown_user')));
        continue;
      }
      const there = known.get(`${id} ${userId}`);
      const grantedAt = new Date(granted_at);
      // Nobody may have ended it yet when its time was over.
      const endedAt = there && (there.revokedAt ?? there.expiresAt);
      if (there && !isRecorded(there) && !(endedAt && endedAt <= grantedAt)) continue;
      const email = current.users.get(emailKeyOf(user))?.email ?? user;
      const lines = differences(there && recorded.get(email), {
        ...{ user: email, scopes, granted_at },
        ...(expires_at === undefined ? {} : { expires_at }),
        evidence,
      });
      if (lines.length === 0) continue;
      tell(
        applying,
        client,
        lines.map((line) => `consents: ${email}: ${line}`),
      );
      const expiresAt = expires_at === undefined ? null : new Date(expires_at);
      await attempt(at, () =>
        app
          .get(ConsentApprovals)
          .importIn({ clientId: id, userId, scopes, grantedAt, expiresAt, evidence }, actor),
      );
    }
  }
}

/**
 * Gives clients the secrets that the file refers to; those that they have already stay as they are. New ones are made when nothing can be
 * refused any more.
 */
export async function applySecrets(applying: Applying, planned: readonly PlannedClient[]): Promise<void> {
  const { app, actor, document, dryRun, secrets, attempt } = applying;
  const batches = app.get(ClientBatchesService);
  const having = planned.filter(({ entry }) => entry.secret);
  const there = await batches.secretsOf(having.map(({ id }) => id));
  const byClient = grouped(there, ({ clientId }) => clientId);
  const given: { clientId: string; digest: Buffer; isNew: boolean }[] = [];
  const lacking: PlannedClient[] = [];
  for (const client of having) {
    const { id, entry, place, before } = client;
    await attempt([...place, 'secret'], async () => {
      if (entry.type === 'public') throw conflict('a public client has no secret');
      if (entry.token_endpoint_auth_method === 'private_key_jwt')
        throw conflict('a client with keys has no secret');
      const secret = secrets.given(entry.secret!);
      const own = byClient.get(id) ?? [];
      if (secret === undefined) {
        if (own.every(({ isExpired }) => isExpired)) lacking.push(client);
        return;
      }
      const digest = digestOf(secret);
      const same = own.find((each) => each.digest.equals(digest));
      if (same?.isExpired) throw conflict('this secret of the client has expired: use another one');
      if (same) return;
      const words = own.length > 0 ? 'another one; those before stay valid for a day' : 'as referred to';
      tell(applying, client, [`secret: ${words}`]);
      given.push({ clientId: id, digest, isNew: !before });
    });
  }
  document.refuse();
  for (const client of lacking) {
    const { id, entry, place, before } = client;
    const file = entry.secret!.generate!;
    tell(applying, client, [`secret: a new one, in ${file}`]);
    if (dryRun) continue;
    await attempt([...place, 'secret'], async () => {
      given.push({ clientId: id, digest: digestOf(secrets.generated(file)), isNew: !before });
    });
  }
  document.refuse();
  await batches.addSecrets(given, actor);
}
