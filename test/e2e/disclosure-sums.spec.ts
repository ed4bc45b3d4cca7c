import { PurgeService } from '#platform/database/purge/purge.service.js';
import { DeliverySumsRepository } from '#events/disclosures/delivery-sums.repository.js';
import { DisclosedReadsService } from '#events/disclosures/disclosed-reads.service.js';
import { DisclosureHistoryService } from '#events/disclosures/disclosure-history.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { idsOf, session } from '../support/event-feed.js';
import { madeForEach, type TestClient, until, useService } from '../support/spec.js';
import { untilHourHasRoom } from '../support/hours.js';
import { leaveOutScheduledPurges } from '../support/scheduled-work.js';
import { WEBHOOK_ENV, Webhooks, type DeliveryRow, type TestEndpoint } from '../support/webhooks.js';

const SESSIONS = 'charging_session:read';

const service = useService({ instances: 2, env: { ...WEBHOOK_ENV, RETENTION_DAYS: '2' } });
const webhooks = Webhooks.setUp(service);
// What was sent and read is counted by the day.
beforeEach(untilHourHasRoom);

/** Deliveries are counted where they are read while they are kept, and rolled up into the sums before they are purged. */
describe('The sums of what was sent', () => {
  let client: TestClient;
  let user: UserEntity;
  let endpoint: TestEndpoint;

  beforeAll(() => leaveOutScheduledPurges(service));
  beforeEach(async () => {
    client = await service.make.client();
    user = await webhooks.consentedUser(client);
    endpoint = await webhooks.endpoint(client);
    await service.database.query("UPDATE disclosure_roll_up SET up_to = '-infinity'");
    await service.database.query('DELETE FROM events');
  });

  const query = (sql: string, params: unknown[] = []) => service.database.query(sql, params);
  const purge = (n = 0) => service.instances[n]!.app.get(PurgeService).purge();
  const rollUp = (limit = 1000, n = 0) =>
    service.instances[n]!.app.get(DeliverySumsRepository).rollUp(2, limit);
  const deliver = async (fields: Record<string, unknown> = {}, of = user): Promise<DeliveryRow> => {
    const delivery = await webhooks.publishOne(of.id, fields);
    await webhooks.finished(delivery.id);
    return delivery;
  };
  /** Makes all events that many hours old. */
  const age = (hours: number) =>
    query("UPDATE events SET created_at = now() - make_interval(hours => $1)", [hours]); // oxfmt-ignore
  const stored = (of = user) =>
    service.database.query<{ scope: string; deliveries: number }>(
      `SELECT client_id AS client, scope, deliveries::int FROM disclosure_days
        WHERE user_id = $1 AND deliveries > 0 ORDER BY client_id, day, scope`,
      [of.id],
    );
  const shown = async (of = user, to = client) =>
    (await service.app.get(DisclosureHistoryService).of(of.id, to.id)).kinds.map(
      ({ scope, requests, deliveries }) => [scope, requests, deliveries],
    );
  const eventCount = () => service.database.value<number>('SELECT count(*)::int FROM events');

  it('are shown at once, the same before and after the roll-up, and when the deliveries are gone', async () => {
    for (let n = 0; n < 3; n++) await deliver();
    expect(await shown()).toEqual([[SESSIONS, 0, 3]]);
    expect(await stored()).toEqual([]);
    await age(47);
    await purge();
    expect([await shown(), await stored(), await eventCount()]).toEqual([[[SESSIONS, 0, 3]], [], 3]);
    // As if two more hours had passed for the roll-up too.
    await age(49);
    await query("UPDATE disclosure_roll_up SET up_to = up_to - interval '2 hours'");
    await rollUp();
    expect([await shown(), await eventCount()]).toEqual([[[SESSIONS, 0, 3]], 3]);
    await purge();
    expect([await shown(), await eventCount()]).toEqual([[[SESSIONS, 0, 3]], 0]);
    expect(await stored()).toEqual([{ client: client.id, scope: SESSIONS, deliveries: 3 }]);
  });

  it('are the same however often they are rolled up, in whatever parts, and by two instances at once', async () => {
    const others = [await webhooks.consentedUser(client), await webhooks.consentedUser(client)];
    for (const each of [user, ...others]) for (let n = 0; n < 4; n++) await deliver({}, each);
    await query(`UPDATE events e SET created_at = now() - interval '3 days' + n * interval '1 second'
                   FROM (SELECT id, row_number() OVER (ORDER BY id) / 3 AS n FROM events) o WHERE o.id = e.id`);
    while ((await Promise.all([rollUp(2, 0), rollUp(2, 1), rollUp(2, 0)])).some((n) => n > 0));
    for (let n = 0; n < 3; n++) expect(await rollUp()).toBe(0);
    await Promise.all([purge(0), purge(1)]);
    for (const each of [user, ...others]) {
      expect([await stored(each), await shown(each)]).toEqual([
        [{ client: client.id, scope: SESSIONS, deliveries: 4 }],
        [[SESSIONS, 0, 4]],
      ]);
    }
  });

  it('contain what arrived only: no tests, nothing about consents, and nothing that failed or was cancelled', async () => {
    const refusing = await webhooks.endpoint(client, { types: ['vehicle.updated'], reply: 410 });
    const consents = await webhooks.endpoint(client, { types: ['user.consent_revoked'] });
    await webhooks.finished((await webhooks.publishOne(user.id, { type: 'vehicle.updated' })).id);
    await deliver();
    // Arrived once, sent again, and failed then.
    await query("UPDATE deliveries SET state = 'failed' WHERE id = $1", [(await deliver()).id]);
    await service.make.revokeConsent(client, user);
    await webhooks.receives(consents);
    expect(webhooks.received(refusing)).toHaveLength(1);
    expect(await shown()).toEqual([[SESSIONS, 0, 2]]);
    await age(49);
    await purge();
    expect(await shown()).toEqual([[SESSIONS, 0, 2]]);
  });

  it('do not contain tests of a partner', async () => {
    await query('UPDATE events SET test = true WHERE id = $1', [(await deliver()).event_id]);
    expect(await shown()).toEqual([]);
    await age(49);
    await purge();
    expect([await shown(), await stored()]).toEqual([[], []]);
  });

  it('are kept apart by user and application, and by the kind of data', async () => {
    const [other, another] = [await service.make.client(), await webhooks.consentedUser(client)];
    await service.make.consent(other, user);
    await webhooks.endpoint(other, { types: ['vehicle.updated'] });
    await deliver({ type: 'vehicle.updated' });
    await deliver();
    await deliver({}, another);
    const before = [await shown(), await shown(user, other), await shown(another)];
    expect(before).toEqual([[[SESSIONS, 0, 1]], [['vehicle:read', 0, 1]], [[SESSIONS, 0, 1]]]);
    await age(49);
    await purge();
    expect([await shown(), await shown(user, other), await shown(another)]).toEqual(before);
  });

  it('keep events that are not rolled up yet, and endpoints with them', async () => {
    await deliver();
    await age(49);
    await query("UPDATE webhook_endpoints SET deleted_at = now() - interval '3 days' WHERE id = $1", [
      endpoint.id,
    ]);
    const failing = service.instances.map(({ app }) =>
      jest.spyOn(app.get(DeliverySumsRepository), 'rollUp').mockRejectedValue(new Error('out of order')),
    );
    await expect(purge()).rejects.toThrow('disclosure_days: out of order');
    expect([await eventCount(), await shown()]).toEqual([1, [[SESSIONS, 0, 1]]]);
    for (const spy of failing) spy.mockRestore();
    await purge();
    expect([await eventCount(), await stored()]).toEqual([
      0,
      [{ client: client.id, scope: SESSIONS, deliveries: 1 }],
    ]);
    expect(
      await service.database.value('SELECT count(*)::int FROM webhook_endpoints WHERE id = $1', [
        endpoint.id,
      ]),
    ).toBe(0);
  });

  it('are forgotten with the person, also what is not rolled up', async () => {
    await deliver();
    await age(49);
    await service.make.eraseUser(user);
    await purge();
    expect(await stored()).toEqual([]);
  });

  it('are kept for 13 months, and not a day longer', async () => {
    await query(
      `INSERT INTO disclosure_days (user_id, client_id, day, scope, requests)
       SELECT $1, $2, ((now() AT TIME ZONE 'UTC')::date - interval '13 months')::date + n, 'vehicle:read', 10 + n
         FROM unnest('{-1,0,1}'::int[]) n`,
      [user.id, client.id],
    );
    const left = () =>
      service.database.query('SELECT requests::int FROM disclosure_days WHERE user_id = $1 ORDER BY 1', [
        user.id,
      ]);
    // What is too old is not shown, whether or not it was purged.
    expect(await shown()).toEqual([
      ['vehicle:read', 11, 0],
      ['vehicle:read', 10, 0],
    ]);
    await purge();
    expect(await left()).toEqual([{ requests: 10 }, { requests: 11 }]);
  });

  it('remember batches for 72 hours', async () => {
    await query(
      `INSERT INTO disclosure_batches (reporter_id, batch_id, body_digest, counted, received_at)
       SELECT 'x', n::text, sha256(''), 1, now() - make_interval(hours => n) FROM unnest('{71,73}'::int[]) n`,
    );
    await purge();
    expect(await service.database.query("SELECT batch_id FROM disclosure_batches WHERE reporter_id = 'x'")).toEqual([
      { batch_id: '71' },
    ]); // oxfmt-ignore
  });
});

describe('The feed of events', () => {
  const client = madeForEach(() => service.make.client());
  const user = madeForEach(() => webhooks.consentedUser(client));

  it('counts whose data it showed, once for each answer and kind', async () => {
    const bearer = await service.make.clientToken(client);
    const other = await webhooks.consentedUser(client);
    const ids: string[] = [];
    for (const [of, type] of [
      [user, 'charging_session.created'],
      [user, 'charging_session.created'],
      [user, 'vehicle.updated'],
      [other, 'charging_session.created'],
    ] as const) {
      ids.push((await webhooks.publish(of.id, session('1', type))).json.id as string);
    }
    const read = async () => idsOf(await service.http.get('/v2/events?page_size=100', { bearer }));
    // The consents are events of the client too, which have no scope.
    await until('all are shown', async () => (await read()).filter((id) => ids.includes(id)).length === 4);
    const reads = service.app.get(DisclosedReadsService);
    await reads.flush();
    await service.database.query('DELETE FROM disclosure_days');
    const head = await service.http.send('/v2/events?page_size=100', { bearer, method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    for (let n = 0; n < 2; n++) await read();
    await reads.flush();
    const sums = await service.database.query(
      'SELECT user_id AS user, scope, requests::int FROM disclosure_days WHERE client_id = $1 ORDER BY scope, user_id',
      [client.id],
    );
    expect(sums).toEqual(
      expect.arrayContaining([
        { user: user.id, scope: SESSIONS, requests: 2 },
        { user: other.id, scope: SESSIONS, requests: 2 },
        { user: user.id, scope: 'vehicle:read', requests: 2 },
      ]),
    );
    expect(sums).toHaveLength(3);
  });
});
