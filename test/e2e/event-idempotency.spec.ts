import { type HttpOptions, madeOnce, PATIENT, useSharedService } from '../support/spec.js';
import { rowCounts, unexpectedErrors } from '../support/refusals.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { TYPE, WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';

const UNKNOWN_USER = 'user01HN2NJ9NMRZBXT1H6FT9N7735';
const TIME = '2026-01-01T00:00:00Z';

describe('The Idempotency-Key of an event', () => {
  const service = useSharedService({ instances: 2, databaseOptions: PATIENT, env: WEBHOOK_ENV });

  const webhooks = madeOnce(() => Webhooks.start(service));
  const client = madeOnce(() => service.make.client());
  const user = madeOnce(() => webhooks.consentedUser(client));
  beforeAll(async () => await webhooks.endpoint(client));
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));

  const publish = (fields: Record<string, unknown> = {}, options: HttpOptions & { key?: string } = {}) =>
    webhooks.publish(user.id, fields, options);
  const eventCount = async () => (await rowCounts(service)).events;

  const keyCount = async () => (await rowCounts(service)).event_idempotency_keys;
  let n = 0;
  let key: string;
  beforeEach(() => (key = `key-${++n}-!~${'x'.repeat(240)}`));

  it('is refused with a 422 for a different body, and nothing is stored', async () => {
    expect((await publish({ data: { a: 1 } }, { key })).status).toBe(202);
    const before = [await eventCount(), await keyCount()];
    const other = await service.make.user();
    const changes = [
      { data: { a: 2 } },
      { data: {} },
      { data: { a: 1 }, type: 'vehicle.updated' },
      { data: { a: 1 }, timestamp: '2026-01-01T00:00:01Z' },
      { data: { a: 1 }, user_id: other.id },
    ];
    for (const change of changes) {
      const answer = await publish(change, { key });
      expect([answer.status, answer.json.type]).toEqual([
        422,
        `${service.settings.baseUrl}/v2/problems/unprocessable-content/`,
      ]);
    }
    expect([await eventCount(), await keyCount()]).toEqual(before);
  });

  it('gives the same answer after the user was erased, and a 400 with another body', async () => {
    const erased = await service.make.user();
    const first = await webhooks.publish(erased.id, {}, { key });
    expect(first.status).toBe(202);
    const bearer = await service.make.adminToken();
    expect((await service.http.send(`/admin/users/${erased.id}`, { method: 'DELETE', bearer })).status).toBe(
      204,
    );
    const again = await webhooks.publish(erased.id, {}, { key });
    expect([again.status, again.json]).toEqual([202, first.json]);
    const other = await webhooks.publish(erased.id, { data: { other: true } }, { key });
    expect([other.status, Object.keys(other.json.field_errors as object)]).toEqual([400, ['user_id']]);
  });

  it('changes nothing for other events when one is refused because its user is erased at that moment', async () => {
    const erased = await service.make.user();
    await service.database.query('BEGIN');
    await service.database.query('DELETE FROM users WHERE id = $1', [erased.id]);
    const answers = Promise.all(
      [erased.id, user.id, erased.id, user.id].map((id, place) =>
        webhooks.publish(id, {}, { key: `${place}-${key}`.slice(0, 255) }),
      ),
    );
    await untilWaitingForLocks(service.database, 1);
    await service.database.query('COMMIT');
    expect((await answers).map(({ status }) => status)).toEqual([400, 202, 400, 202]);
  });

  it('is not used up by a refused request', async () => {
    expect((await publish({ user_id: UNKNOWN_USER }, { key })).status).toBe(400);
    expect((await publish({ type: 'vehicle.unknown' }, { key })).status).toBe(400);
    expect((await publish({}, { key })).status).toBe(202);
  });

  it('returns the same answer again, without a second event', async () => {
    const first = await publish({ data: { a: 1 } }, { key });
    await webhooks.endpoint(client, { enabled: false });
    const before = await eventCount();
    for (const { url } of [...service.instances, ...service.instances]) {
      const again = await fetch(`${url}/v2/events`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${webhooks.bearer}`,
          'content-type': 'application/json; charset=utf-8',
          'idempotency-key': key,
        },
        // The same JSON value, written differently.
        body: `{ "data": {"a": 1.0}, "timestamp": "${TIME}", "user_id": "${user.id}", "type": "${TYPE}" }`,
      });
      expect([again.status, await again.json()]).toEqual([first.status, first.json]);
    }
    expect(await eventCount()).toBe(before);
  });

  /** Twenty concurrent requests with this key, to both instances. */
  const twenty = (data: (n: number) => object) =>
    Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        service.instances[n % 2]!.http.send('/v2/events', {
          bearer: webhooks.bearer,
          headers: { 'idempotency-key': key },
          json: { type: TYPE, user_id: user.id, timestamp: TIME, data: data(n) },
        }),
      ),
    );

  it('creates one event from twenty concurrent requests to two instances', async () => {
    const [events, keys] = [(await eventCount())!, (await keyCount())!];
    const answers = await twenty(() => ({ at: 'once' }));
    const { id } = answers[0]!.json as { id: string };
    for (const answer of answers) expect([answer.status, answer.json]).toEqual([202, { id, deliveries: 1 }]);
    expect([await eventCount(), await keyCount()]).toEqual([events + 1, keys + 1]);
    expect(await webhooks.deliveriesOf(id)).toHaveLength(1);
  });

  it('accepts one of twenty concurrent requests with different bodies', async () => {
    const events = (await eventCount())!;
    const statuses = (await twenty((n) => ({ n }))).map(({ status }) => status).sort();
    expect(statuses).toEqual([202, ...Array.from({ length: 19 }, () => 422)]);
    expect(await eventCount()).toBe(events + 1);
  });

  it('is separate for each client', async () => {
    const other = await service.make.adminToken(['event:publish']);
    const [first, second] = [await publish({}, { key }), await publish({}, { key, bearer: other })];
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.json.id).not.toBe(first.json.id);
  });

  it('can be used again after 24 hours, but not earlier', async () => {
    const first = await publish({}, { key });
    const age = (by: string) =>
      service.database.query(
        `UPDATE event_idempotency_keys SET created_at = now() - $2::interval WHERE event_id = $1`,
        [first.json.id, by],
      );
    await age('23 hours 59 minutes');
    expect((await publish({}, { key })).json).toEqual(first.json);
    await age('24 hours 1 second');
    const next = await publish({ data: { a: 'new' } }, { key });
    expect([next.status, next.json.id === first.json.id]).toEqual([202, false]);
    expect((await publish({ data: { a: 'new' } }, { key })).json).toEqual(next.json);
    expect((await publish({}, { key })).status).toBe(422);
  });
});
