import { newId } from '#platform/secrets/ids.js';
import { emailKeyOf } from '#access/users/accounts/email.js';
import type { UserKind } from '#access/users/accounts/user.entity.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import type { Applying } from './applying.js';
import { differences } from './company-differences.js';
import { ownerEntry } from './current-company.js';

/** Creates and changes the owners of the file. Returns the ids of all users whom it names, by the keys of their addresses. */
export async function applyOwners({
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
