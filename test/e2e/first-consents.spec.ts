import { SERVICE_ACTOR } from '../../src/audit/audit.service.js';
import { ConsentsService } from '../../src/consents/consents.service.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { PATIENT, useService } from '../support/test-service.js';

const service = useService({ databaseOptions: PATIENT });

it('two first consents of the same pair at a time are one grant for the trail, the partner and the user', async () => {
  const { make, database, app } = service;
  const user = await make.user();
  const client = await make.client({ ownerId: (await make.user()).id });
  const consents = app.get(ConsentsService, { strict: false });
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
