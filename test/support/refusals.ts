import { ConsentExpiryService } from '#access/consents/consent-expiry.service.js';
import { AccountDeletionsWorker } from '#access/users/closing/account-deletions.service.js';
import { leaveOutSchedule, leaveOutScheduledPurges } from './scheduled-work.js';
import type { TestService } from './test-service.js';

/** Expects a refusal that the caller can act on: a 4xx with a message that shows no internals and echoes no markup. */
export function expectRefusal(answer: { status: number; text: string }, where: string): void {
  const kind = answer.status >= 400 && answer.status < 500 ? '4xx' : answer.status;
  expect([where, kind]).toEqual([where, '4xx']);
  expect([where, answer.text]).toEqual([where, expect.stringMatching(/\w+ \w+ \w+/)]);
  expect(answer.text).not.toMatch(/<script>alert|FST_ERR|node_modules|\n\s+at /);
}

/**
 * How many rows each table has. Leaves out, until the end of the file, what adds and deletes rows by itself: the purge, and the ends of
 * consents and accounts that other files may have left.
 */
export async function rowCounts(service: TestService): Promise<Record<string, number>> {
  await leaveOutScheduledPurges(service);
  for (const worker of [ConsentExpiryService, AccountDeletionsWorker])
    await leaveOutSchedule(service, worker);
  const { database } = service;
  if (!prepared.has(database.url)) {
    await database.query(`PREPARE row_counts AS ${await countsOf(database)}`);
    prepared.add(database.url);
  }
  const rows = await database.query<{ name: string; n: number }>('EXECUTE row_counts');
  return Object.fromEntries(rows.map(({ name, n }) => [name, n]));
}

/** The databases that know the query: planning a part for each table takes longer than counting. */
const prepared = new Set<string>();

async function countsOf(database: TestService['database']): Promise<string> {
  const tables = await database.query<{ name: string }>(
    // The counts for the console's charts, the log of requests, what was read and the uses of secrets are written every few seconds, even when every
    // request is refused; opening the page that adds a passkey stores a challenge; what a form was answered is kept for seconds; and deliveries that other files of a shared service have
    // left are tried again, seconds or minutes later.
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_name NOT IN ('activity_hours', 'client_key_uses', 'client_requests', 'client_secret_uses', 'delivery_attempts', 'disclosure_batches', 'disclosure_days', 'form_answers', 'request_records', 'webauthn_challenges', 'webhook_endpoint_hours') ORDER BY 1",
  );
  return tables
    .map(({ name }) => `SELECT '${name}' AS name, count(*)::int AS n FROM "${name}"`)
    .join(' UNION ALL ');
}

/** What the service logged as its own error, from this line of its log on: the route and the message. */
export const unexpectedErrors = ({ log }: TestService, from = 0): string[] =>
  log
    .slice(from)
    .filter((line) => line.includes('unexpected error'))
    .map((line) => (JSON.parse(line) as { err?: { message?: string } }).err?.message ?? line);
