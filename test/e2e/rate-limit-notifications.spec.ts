import { Listener } from '#platform/database/connections/listener.service.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { changesRead } from '../support/changes-read.js';
import { type Answer, madeForEach, until, useSharedService } from '../support/spec.js';
import { putClockForward } from '../support/clock.js';
import { statusesOf } from '../support/rate-limits.js';
import { statementsDuring } from '../support/statements.js';
import { leaveOutScheduledPurges } from '../support/scheduled-work.js';

const LIMIT = 2;
const HOUR = 3600;
// Cached data about a notification may be this old, in seconds.
const CACHED_SECONDS = 5;

interface Row {
  id: string;
  resolved_at: Date | null;
  resolve_at: Date;
}

describe('The notification in a 429', () => {
  const service = useSharedService({ instances: 2 });
  let admin: string;
  let bearer: string;

  beforeAll(async () => {
    // Its statements would be among those that a flood is said not to cost.
    await leaveOutScheduledPurges(service);
    admin = await service.make.adminToken();
  });
  const client = madeForEach(() => service.make.client({ rateLimit: LIMIT }));
  beforeEach(async () => (bearer = await service.make.clientToken(client)));

  const ask = (token = bearer, instance = 0): Promise<Answer> =>
    service.instances[instance]!.http.get('/v2/users', { bearer: token });
  /** Uses the limit up on every instance, because here each instance counts separately. */
  const exhaust = async (token = bearer): Promise<void> => {
    for (const instance of [0, 1])
      expect(await statusesOf(LIMIT, () => ask(token, instance))).toEqual(Array(LIMIT).fill(200));
  };
  const refused = async (token = bearer, instance = 0): Promise<Record<string, unknown>> => {
    const answer = await ask(token, instance);
    expect(answer.status).toBe(429);
    return answer.json.notification as Record<string, unknown>;
  };
  const rows = (of = client): Promise<Row[]> =>
    service.database.query<Row>(
      // Waits for the schedule of an instance that resolves them at this moment.
      'SELECT * FROM notifications WHERE client_id = $1 ORDER BY id FOR UPDATE',
      [of.id],
    );
  /** Makes the hour of every open period end. */
  const endPeriods = async (): Promise<void> => {
    await service.database.query(
      `UPDATE notifications SET event_time = event_time - interval '1 hour', resolve_at = resolve_at - interval '1 hour'
        WHERE client_id = $1`,
      [client.id],
    );
    await service.database.query(
      `UPDATE rate_limit_periods SET ends_at = ends_at - interval '1 hour' WHERE client_id = $1`,
      [client.id],
    );
  };
  const setLimit = async (rate_limit: number): Promise<void> => {
    const json = { rate_limit };
    const answer = await service.http.send(`/admin/clients/${client.id}`, {
      method: 'PATCH',
      bearer: admin,
      json,
    });
    expect(answer.status).toBe(200);
    await changesRead(service);
  };

  it('is created once for 60 concurrent refusals on two instances, and is the same in each', async () => {
    await exhaust();
    const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => ask(bearer, n % 2)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
    const ids = answers.map(({ json }) => json.notification.id as string);
    expect(await rows()).toMatchObject([{ id: ids[0], resolved_at: null }]);
    expect(new Set(ids).size).toBe(1);
  });

  it('is found again by later refusals on any instance, even after the cached data has expired', async () => {
    await exhaust();
    const first = await refused();
    for (let n = 0; n < 3; n++) {
      expect([await refused(bearer, 0), await refused(bearer, 1)]).toEqual([first, first]);
      putClockForward(CACHED_SECONDS + 1);
    }
    expect(await rows()).toHaveLength(1);
  });

  it('costs a flood of refusals no query as long as its period lasts', async () => {
    await exhaust();
    await refused();
    const flood = async (): Promise<void> => {
      const answers = await Promise.all(Array.from({ length: 60 }, () => ask()));
      expect(answers.every(({ status }) => status === 429)).toBe(true);
    };
    expect(await statementsDuring(service, flood)).toEqual([]);
    putClockForward(HOUR / 2);
    // By then the token's cached state is older than a minute, so the token is checked again; the notification is not.
    const later = await statementsDuring(service, flood);
    expect(later.filter((sql) => !sql.includes('revoked_access_tokens'))).toEqual([]);
  });

  it('shows immediately what was marked on another instance', async () => {
    await exhaust();
    const { id } = await refused(bearer, 0);
    expect(await refused(bearer, 1)).toMatchObject({ id });
    await service.database.query('UPDATE notifications SET read_at = now() WHERE id = $1', [id]);
    await changesRead(service);
    for (const instance of [0, 1])
      expect(await refused(bearer, instance)).toMatchObject({ id, read_at: expect.any(String) });
  });

  it('belongs to the user of the token, with a separate one for each user', async () => {
    const users = [await service.make.user(), await service.make.user()];
    const notices: unknown[] = [];
    for (const user of users) {
      const { access_token } = await service.make.tokens(client, user);
      await exhaust(access_token);
      const answer = await ask(access_token);
      expect(answer.json.instance).toBe(`${service.settings.baseUrl}/v2/users/${user.id}`);
      notices.push(answer.json.notification.id);
    }
    const stored = await service.database.query<{ id: string; user_id: string }>(
      'SELECT id, user_id FROM notifications WHERE client_id = $1 ORDER BY id',
      [client.id],
    );
    expect(stored).toEqual(users.map((user, n) => ({ id: notices[n], user_id: user.id })));
  });

  it("belongs to the owner for client credentials, and is the same as for the owner's token", async () => {
    const owner: UserEntity = await service.make.user();
    const owned = await service.make.client({ ownerId: owner.id, rateLimit: LIMIT });
    const tokens = [
      await service.make.clientToken(owned),
      (await service.make.tokens(owned, owner)).access_token,
    ];
    const answers: Answer[] = [];
    for (const token of tokens) {
      await exhaust(token);
      answers.push(await ask(token));
    }
    for (const { json } of answers) {
      expect(json.instance).toBe(`${service.settings.baseUrl}/v2/users/${owner.id}`);
      expect(json.notification).toEqual(answers[0]!.json.notification);
    }
    expect(await rows(owned)).toHaveLength(1);
  });

  it('can be read at its URL once the client is served again', async () => {
    await exhaust();
    const notification = await refused();
    await setLimit(100);
    const url = new URL(notification.url as string);
    expect(url.origin).toBe(service.settings.baseUrl);
    const answer = await service.http.get(url.pathname, { bearer });
    expect([answer.status, answer.json]).toEqual([200, notification]);
    expect((await service.http.get('/notifications', { bearer })).json).toEqual([notification]);
  });

  it('shows marks made in the meantime, and remains the one of its period', async () => {
    await exhaust();
    const { id } = await refused();
    await setLimit(100);
    const json = { read: true, resolved: true };
    expect(
      (await service.http.send(`/notifications/${id as string}`, { method: 'PATCH', bearer, json })).status,
    ).toBe(200);
    await setLimit(1);
    putClockForward(CACHED_SECONDS + 1);
    expect(await refused()).toMatchObject({
      id,
      read_at: expect.any(String),
      resolved_at: expect.any(String),
    });
    expect(await rows()).toHaveLength(1);
  });

  it('stays open for an hour after the first refusal, and is then resolved by the service', async () => {
    await exhaust();
    const { id } = await refused();
    const [{ period }] = (await service.database.query<{ period: number }>(
      'SELECT extract(epoch FROM resolve_at - event_time)::int AS period FROM notifications WHERE id = $1',
      [id],
    )) as [{ period: number }];
    expect(period).toBe(3600);
    await service.app.get(NotificationsService).resolveDue();
    expect(await rows()).toMatchObject([{ id, resolved_at: null }]);
    await endPeriods();
    await Promise.all(service.instances.map(({ app }) => app.get(NotificationsService).resolveDue()));
    const [row] = await rows();
    expect(row!.resolved_at).toEqual(row!.resolve_at);
    await setLimit(100);
    const shown = await service.http.get(`/notifications/${id as string}`, { bearer });
    expect(shown.json.resolved_at).toBe(row!.resolve_at.toISOString());
  });

  it('is not resolved again if its user resolved it earlier', async () => {
    await exhaust();
    const { id } = await refused();
    await service.database.query(
      "UPDATE notifications SET resolved_at = now() - interval '5 minutes' WHERE id = $1",
      [id],
    );
    const [before] = await rows();
    await endPeriods();
    await service.app.get(NotificationsService).resolveDue();
    expect((await rows())[0]!.resolved_at).toEqual(before!.resolved_at);
  });

  it('is a new one in a new period, even if many concurrent refusals on two instances find the old period over', async () => {
    await exhaust();
    const first = await refused();
    await refused(bearer, 1);
    await endPeriods();
    putClockForward(CACHED_SECONDS + 1);
    const answers = await Promise.all(Array.from({ length: 30 }, (_, n) => ask(bearer, n % 2)));
    const ids = new Set(answers.map(({ json }) => json.notification.id as string));
    expect([ids.size, ids.has(first.id as string)]).toEqual([1, false]);
    await service.app.get(NotificationsService).resolveDue();
    expect(await rows()).toMatchObject([
      { id: first.id, resolved_at: expect.any(Date) },
      { id: [...ids][0], resolved_at: null },
    ]);
  });

  it('is deleted with its user, together with the period', async () => {
    const user = await service.make.user();
    const { access_token } = await service.make.tokens(client, user);
    await exhaust(access_token);
    await refused(access_token);
    const erased = await service.http.send(`/admin/users/${user.id}`, { method: 'DELETE', bearer: admin });
    expect(erased.status).toBe(204);
    expect(await rows()).toEqual([]);
    expect(
      await service.database.query('SELECT 1 FROM rate_limit_periods WHERE client_id = $1', [client.id]),
    ).toEqual([]);
    expect((await ask(access_token)).status).toBe(401);
  });

  it('is not made for a client that another instance has just deleted: its token is refused', async () => {
    await exhaust();
    await refused(bearer, 1);
    // This instance reads no changes any more.
    const there = service.instances[1]!.app.get(Listener, { strict: false });
    let breakOff = (_error: Error) => {};
    const silence = new Promise<never>((_resolve, reject) => (breakOff = reject));
    silence.catch(() => undefined);
    const listening = jest.spyOn(there, 'query').mockReturnValue(silence);
    try {
      const path = `/admin/clients/${client.id}`;
      const deleted = await service.instances[0]!.http.send(path, { method: 'DELETE', bearer: admin });
      expect(deleted.status).toBe(204);
      await until('it has heard that the notification is gone', async () => {
        const answer = await ask(bearer, 1);
        expect([401, 429]).toContain(answer.status);
        return answer.status === 401;
      });
    } finally {
      listening.mockRestore();
      breakOff(new Error('cut'));
    }
  });
});
