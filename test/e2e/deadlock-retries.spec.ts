import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import { untilWaitingForLocks, waitingForLocks } from '../support/locks.js';
import { exchange, madeForEach, madeOnce, PATIENT, until, useSharedService } from '../support/spec.js';
import { connectionTo } from '../support/test-database.js';

/*
 * Disabling a user locks the user and then the user's clients. What is issued to a client locks the client first. If the two
 * meet, PostgreSQL ends one of them; here always the one that issues.
 */
const service = useSharedService({ databaseOptions: PATIENT });
const ending = madeOnce(() => connectionTo(service));
const queueing = madeOnce(() => connectionTo(service));
// Only the other side looks for a deadlock, so it is the one that loses.
beforeAll(async () => {
  for (const each of [ending, queueing]) await each.query("SET deadlock_timeout = '1h'");
});
const owner = madeForEach(() => service.make.user());
const client = madeForEach(() => service.make.client({ ownerId: owner.id }));

/**
 * Runs `issue` so that it holds the client and waits for the owner, while another holds the owner and waits for the client. Whoever
 * waits looks for a deadlock only once, a second after the wait began. A third, which queues before `issue`, leaves when all wait:
 * `issue` then begins another wait, in which the deadlock is there from its beginning. `held` locks what `issue` holds
 * then, the client unless it is given; `lock`: how strongly the owner is locked.
 */
async function losing<T>(
  issue: () => Promise<T>,
  held = `UPDATE clients SET token_epoch = token_epoch WHERE owner_id = '${owner.id}'`,
  lock: 'NO KEY UPDATE' | 'UPDATE' = 'NO KEY UPDATE',
): Promise<T> {
  const lockOwner = `SELECT 1 FROM users WHERE id = '${owner.id}' FOR ${lock}`;
  const [third] = (await queueing.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
  await ending.query(`BEGIN; ${lockOwner}`);
  const queued = queueing.query(lockOwner).catch(() => undefined);
  await untilWaitingForLocks(service.database, 1);
  const issuing = issue();
  await untilWaitingForLocks(service.database, 2);
  let isOver = false;
  const other = ending.query(`${held}; ROLLBACK`).then(() => (isOver = true));
  await until(
    'all wait, or the deadlock is over',
    async () => isOver || (await waitingForLocks(service.database)) >= 3,
  );
  await service.database.query('SELECT pg_cancel_backend($1)', [third!.pid]);
  const [answer] = await Promise.all([issuing, other, queued]);
  return answer;
}

it('An exchange of a code that lost a deadlock is run again', async () => {
  const code = await service.make.code(client, owner);
  expect((await losing(() => exchange(service.http, client, code))).status).toBe(200);
});

it('A portal link whose statement lost a deadlock is stored by the next', async () => {
  const bearer = await service.make.clientToken(client);
  expect((await losing(() => service.http.get('/webhook_portal', { bearer }))).status).toBe(200);
});

it('A refusal whose notification lost a deadlock with the erasure of its user raises it with the next statement', async () => {
  const limited = await service.make.client({ ownerId: owner.id, rateLimit: 1 });
  const bearer = await service.make.clientToken(limited);
  const ask = () => service.http.get('/v2/users', { bearer });
  expect((await ask()).status).toBe(200);
  // A period that is over: its row is locked before the user.
  await service.database.query(
    `WITH told AS (
       INSERT INTO notifications (id, user_id, client_id, message_id, category, short_text_title, short_text_body)
       VALUES ('notf' || substr($2, 5), $1, $2, 'ERR1', 'RETRY', 'Before', 'Before') RETURNING id
     )
     INSERT INTO rate_limit_periods (client_id, user_id, notification_id, ends_at) SELECT $2, $1, id, now() FROM told`,
    [owner.id, limited.id],
  );
  const { status, json } = await losing(
    ask,
    `DELETE FROM rate_limit_periods WHERE user_id = '${owner.id}'`,
    'UPDATE',
  );
  expect(status).toBe(429);
  expect(json).toMatchObject({ notification: { category: 'RETRY' } });
});

it('Two first consents of the same pair at a time are one grant for the trail, the partner and the user', async () => {
  const { make, database, app } = service;
  const user = await make.user();
  const consents = app.get(ConsentApprovals, { strict: false });
  // Holds whoever writes the consent first.
  await database.query('BEGIN');
  await database.query('LOCK TABLE consents IN SHARE MODE');
  const both = ['consent:one', 'consent:two'].map((evidence) =>
    consents.record(client.id, user.id, [client.scopes[0]!], evidence, SERVICE_ACTOR),
  );
  try {
    await untilWaitingForLocks(database, 2);
  } finally {
    await database.query('COMMIT');
    await Promise.allSettled(both);
  }
  await Promise.all(both);
  const actions = await database.column<string>(
    `SELECT action FROM audit_events WHERE subject_id = $1 AND action LIKE 'consent.%' ORDER BY id`,
    [user.id],
  );
  expect(actions).toEqual(['consent.granted', 'consent.updated']);
  const n = await database.value<number>(
    `SELECT count(*)::int AS n FROM events WHERE type = 'user.consent_granted' AND user_id = $1`,
    [user.id],
  );
  expect(n).toBe(1);
});
