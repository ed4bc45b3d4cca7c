import { readdirSync, readFileSync } from 'node:fs';
import { wordsOf } from '#access/users/accounts/words-of-names.js';
import { EVENT_TYPES } from '../../migrations/event-types.js';
import { EVENT_SCHEMAS } from '../../migrations/event-schemas.js';
import { listOf } from '../support/list-of.js';

/** Actions whose name is put together, or chosen before. */
const CHOSEN = listOf(`
  consent.revoked, consent.expired, session.confirmation_refused, user.password_change_refused,
  user.deletion_requested, user.deletion_cancelled, user.deletion_refused, user.erased
`);

/** What operators do to many users at once is no entry about any of them. */
const OF_OPERATORS = ['user.list_downloaded'];

/** The actions of the audit log that are about a driver, or that a driver can do. */
function actionsOfDrivers(): string[] {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const found = files.flatMap((name) =>
    [
      ...readFileSync(`src/${name}`, 'utf8').matchAll(/\baction: (?:\w+ \? )?'([\w.]+)'(?: : '([\w.]+)')?/g),
    ].flatMap(([, one, other]) => (other ? [one!, other] : [one!])),
  );
  const ofDrivers = /^(user|session|consent|grant|notification)\.[a-z_]+(ed|chosen)$/;
  return [...new Set([...found.filter((each) => ofDrivers.test(each)), ...CHOSEN])];
}

describe('The names that drivers meet in their data', () => {
  it('are in words: what happened to the account, and what its user did', () => {
    const actions = actionsOfDrivers().filter((action) => !OF_OPERATORS.includes(action));
    expect(actions.length).toBeGreaterThan(30);
    expect(actions.filter((action) => wordsOf(action) === undefined)).toEqual([]);
  });

  it('are in words: the events of the service, and the members of their data', () => {
    const types = EVENT_TYPES.map(([name]) => name);
    expect(types.filter((name) => wordsOf(name) === undefined)).toEqual([]);
    const members = types
      .filter((name) => !/^(user|webhook)\./.test(name))
      .flatMap((name) => Object.keys(EVENT_SCHEMAS[name]!['properties'] as object))
      .filter((name) => !/(^|_)id$/.test(name));
    expect([...new Set(members)].filter((name) => wordsOf(`data.${name}`) === undefined)).toEqual([]);
  });
});
