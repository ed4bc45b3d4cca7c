import path from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { PIN_SESSION } from '#platform/database/connections/session.js';
import { nameOf, type TestDatabase } from './test-database.js';

/** No statement is cut off, however long this machine or another transaction holds it up. */
export const PATIENT = { lock_timeout: '0', statement_timeout: '0' };

/** This module, for a service in a process of its own that gets {@link sessionSettings}. */
export const SESSION_SETTINGS = pathToFileURL(path.resolve('dist/test/support/session-settings.js')).href;

/** By the name of a database. In a process of its own they come with the environment. */
const settings = new Map<string, Record<string, string>>(
  JSON.parse(process.env.TEST_SESSION_SETTINGS ?? '[]') as [string, Record<string, string>][],
);

/** {@link setInSessions} for the environment of another process. */
export const sessionSettings = (database: Pick<TestDatabase, 'url'>, values: Record<string, string>) => ({
  TEST_SESSION_SETTINGS: JSON.stringify([[nameOf(database), values]]),
});

/**
 * Gives every new connection of the service to a database these settings in place of its own, such as no lock timeout. The service
 * sets its limits when it has connected, which wins over all that the database could say.
 */
export const setInSessions = (database: Pick<TestDatabase, 'url'>, values: Record<string, string>): void =>
  void settings.set(nameOf(database), values);

type Query = (this: pg.Client, statement: unknown, ...rest: unknown[]) => unknown;
const client = pg.Client.prototype as unknown as { query: Query };
const { query } = client;
client.query = function (statement, ...rest) {
  const others = this.database && settings.get(this.database);
  return query.call(this, others ? withSettings(statement, others) : statement, ...rest);
};

function withSettings(statement: unknown, others: Record<string, string>): unknown {
  const { text, values } = statement as { text?: string; values?: string[] };
  if (text !== PIN_SESSION) return statement;
  return { text, values: [JSON.stringify({ ...JSON.parse(values![0]!), ...others })] };
}
