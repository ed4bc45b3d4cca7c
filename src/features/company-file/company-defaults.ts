import { isDeepStrictEqual } from 'node:util';
import { BRAND } from '#records/brand/brand.resource.js';
import { CLIENT } from '#access/clients/client.resource.js';
import { USER } from '#access/users/accounts/user.resource.js';
import type { Company, Entry } from './company-sections.js';

const CLIENT_DEFAULTS: Entry = {
  ...CLIENT.defaults,
  consents: [],
};
// Whether owners and clients are enabled stays as it is if it is left out, so that no file ends what was decided in an emergency.
const OWNER_DEFAULTS: Entry = {
  kind: USER.fields.kind.initial,
  webhooks_enabled: USER.fields.webhooksEnabled.initial,
};

/** What is written of an object: not what it is by default. */
const bare = <T extends Entry>(entry: T, defaults: Entry): T =>
  Object.fromEntries(
    Object.entries(entry).filter(
      ([name, value]) =>
        value !== undefined && !(name in defaults && isDeepStrictEqual(value, defaults[name])),
    ),
  ) as T;

export const bareOwner = (owner: Entry): Entry => bare(owner, OWNER_DEFAULTS);

const each = <T extends Entry>(
  entries: Record<string, T> | undefined,
  write: (entry: T) => Entry,
): Record<string, Entry> | undefined =>
  entries && Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, write(entry)]));

/** A time in the form in which it is exported. */
export const timeOf = (time: string | Date): string => new Date(time).toISOString().replace('.000Z', 'Z');

/** The same company without what is so by default, in one form: two that mean the same are equal. */
export function withoutDefaults({ brand, scopes, purposes, event_types, owners, clients }: Company): Company {
  const written: Company = {
    brand: brand && bare({ ...brand, accent_color: brand.accent_color?.toLowerCase() }, BRAND.defaults),
    scopes: each(scopes, (scope) => bare(scope, { translations: {} })),
    purposes,
    event_types: each(event_types, ({ versions = [], ...type }) => ({
      ...bare(type, { resource: null, translations: {} }),
      versions: (versions as Entry[]).map((version) => bare(version, { draft: false })),
    })),
    owners: each(owners, bareOwner),
    clients: clients?.map((client) => ({
      ...bare(client, CLIENT_DEFAULTS),
      ...(client.consents?.length
        ? {
            consents: client.consents.map(({ granted_at, expires_at, ...consent }) => ({
              ...consent,
              granted_at: timeOf(granted_at),
              ...(expires_at === undefined ? {} : { expires_at: timeOf(expires_at) }),
            })) as typeof client.consents,
          }
        : {}),
    })),
  };
  return Object.fromEntries(Object.entries(written).filter(([, section]) => section !== undefined));
}
