import { LRUCache } from 'lru-cache';

export const UTC = 'UTC';

// As in the IANA database, such as America/Argentina/Buenos_Aires.
const NAME = /^[A-Za-z][\w+-]{1,30}(\/[\w+-]{1,30}){0,2}$/;

const known = new LRUCache<string, { zone: string | undefined }>({ max: 500 });

/** The time zone by its usual name; undefined for a name that is not known. */
export function timeZoneOf(name: string): string | undefined {
  if (!NAME.test(name)) return undefined;
  let found = known.get(name);
  if (!found) {
    found = { zone: read(name) };
    known.set(name, found);
  }
  return found.zone;
}

function read(timeZone: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}
