import fc from 'fast-check';
import { newId } from '#platform/secrets/ids.js';
import { LIVE_REALM } from '#access/users/accounts/environment.js';
import { type BrowserSession, unexpectedErrors, until, useService } from '../support/spec.js';
import { PARTNER_SCOPES, REDIRECT_URI } from '../support/factory.js';
import { credentialsOf, refresh } from '../support/oauth.js';
import { authorizeAs, RealmMaker, type Realm } from './support/realms.js';
import { alwaysAsync } from './support/runs.js';

/** One attempt of someone in a realm to reach something in another, or in the same. */
interface Attempt {
  route: string;
  from: number;
  to: number;
  which: number;
}

describe('From one environment, or one owner’s sandbox, to another', () => {
  const service = useService({
    env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true', RATE_LIMIT_PER_HOUR: '1000000' },
  });
  let realms: Realm[];
  let adminBearer: string;
  let person: BrowserSession;

  beforeAll(async () => {
    adminBearer = await service.make.adminToken();
    person = await service.make.signedIn(await service.make.user());
    const [owner, stranger] = [await service.make.user(), await service.make.user()];
    // The first two have the same owner.
    const make = new RealmMaker(service);
    realms = [await make.live(owner.id), await make.sandbox(owner.id), await make.sandbox(stranger.id)];
  });

  const publish = ({ serviceBearer: bearer }: Realm, userId: string) => {
    const json = { type: 'vehicle.updated', user_id: userId, timestamp: '2026-01-01T00:00:00Z', data: {} };
    return service.http.send('/v2/events', { json, bearer });
  };

  /** Each way there is: whether the attempt got through. */
  const ROUTES: Record<string, (from: Realm, to: Realm, which: number) => Promise<boolean>> = {
    authorize: async (from, to, which) => {
      return (await authorizeAs(service, from.client, to.userIds[which]!)).searchParams.has('code');
    },
    'authorize, logged in as a person': async (from, to) => {
      const location = await authorizeAs(service, from.client, to.userIds[0]!, person);
      if (!location.searchParams.has('code')) return false;
      // Whoever is logged in consented, not the one who was named.
      const [row] = await service.database.query<{ user_id: string }>(
        'SELECT user_id FROM authorization_codes WHERE client_id = $1 ORDER BY created_at DESC LIMIT 1',
        [from.client.id],
      );
      return to.userIds.includes(row!.user_id);
    },
    'token, by a code': async (from, to) => {
      const answer = await service.http.token({
        grant_type: 'authorization_code',
        ...credentialsOf(from === to ? from.client : from.sibling),
        code: await to.newCode(),
        redirect_uri: REDIRECT_URI,
      });
      return answer.status === 200;
    },
    'token, by a refresh token': async (from, to) => {
      const answer = await refresh(service.http, from.client, to.refreshToken);
      if (answer.status === 200) to.refreshToken = answer.json.refresh_token as string;
      return answer.status === 200;
    },
    introspect: async (from, to, which) => {
      const form = { token: [to.bearer, to.accessToken][which]!, user_id: to.userIds[which] };
      const answer = await service.http.send('/o/introspect', { form, basic: from.service });
      return answer.json.active as boolean;
    },
    'introspect, for a user': async (from, to, which) => {
      const form = { token: from.bearer, user_id: to.userIds[which] };
      const answer = await service.http.send('/o/introspect', { form, bearer: from.serviceBearer });
      return answer.json.scope !== '';
    },
    users: async (from, to, which) => {
      const one = await service.http.get(`/v2/users/${to.userIds[which]}`, { bearer: from.bearer });
      const all = await service.http.get('/v2/users?page_size=100', { bearer: from.bearer });
      return one.status === 200 || all.text.includes(to.userIds[which]!);
    },
    events: async (from, to, which) => {
      return (await publish(from, to.userIds[which]!)).status === 202;
    },
    // The feed of changes to access has no place here: live it names everybody, and in a sandbox nobody (contract §23).
    'the feed of events': async (from, to, which) => {
      const feed = (of: Realm, query: string) =>
        service.http.get(`/v2/events${query}`, { bearer: of.bearer });
      const afterTheLast = async (of: Realm) =>
        new URL(/<([^>]+)>/.exec((await feed(of, '?after=latest')).headers.get('link')!)![1]!).search;
      const [ofFrom, ofTo] = [await afterTheLast(from), await afterTheLast(to)];
      const { id } = (await publish(to, to.userIds[which]!)).json;
      await until('it is in the feed of its own environment', async () =>
        (await feed(to, ofTo)).text.includes(id as string),
      );
      return (await feed(from, ofFrom)).text.includes(id as string);
    },
    'consents by the admin API': async (from, to, which) => {
      const path = `/admin/clients/${from.client.id}/consents/${to.userIds[which]}`;
      const answer = await service.http.send(path, {
        method: 'PUT',
        bearer: adminBearer,
        json: { scopes: PARTNER_SCOPES },
      });
      return answer.status === 200;
    },
    'the sandbox for programs': async (from, to, which) => {
      const [path, method] = [
        [`drivers/${to.userIds[which]}/consent`, 'PUT'],
        [`drivers/${to.userIds[which]}/events`, 'POST'],
      ][which]!;
      const answer = await service.http.send(`/v2/sandbox/${path}`, {
        method,
        bearer: from.bearer,
        json: which === 0 ? {} : { count: 1 },
      });
      return answer.status < 300 || (await listOf(from)).includes(to.userIds[which]!);
    },
    'the sandbox in the portal': async (from, to, which) => {
      const page = await from.portal.open(`/portal/sandbox?driver=${to.userIds[which]}`);
      if (page.status !== 200) return false;
      if (page.text.includes(to.userIds[which]!)) return true;
      const token = page.html.querySelector('input[name=csrf_token]')!.getAttribute('value')!;
      const path = `/portal/sandbox/drivers/${to.userIds[which]}/events`;
      const form = { csrf_token: token, count: '1' };
      return (await from.portal.open(path, { form, headers: { origin: service.url } })).status < 400;
    },
    endpoints: async (from, to) => {
      const page = await from.portal.open(`/portal/endpoints/${to.endpointId}`);
      return page.status === 200 || (await from.portal.open('/portal')).text.includes(to.endpointId);
    },
    deliveries: async (from, to) =>
      (await from.portal.open(`/portal/deliveries/${to.deliveryId}`)).status === 200,
    notifications: async (from, to) =>
      (await service.http.get(`/notifications/${to.notificationId}`, { bearer: from.bearer })).status === 200,
  };
  /** What a live realm does not have, and how it is not reached: a person has to log in. */
  const ONLY_IN_SANDBOXES = [
    'authorize',
    'authorize, logged in as a person',
    'the sandbox for programs',
    'the sandbox in the portal',
  ];

  const listOf = async ({ bearer }: Realm): Promise<string> =>
    (await service.http.get('/v2/sandbox/drivers', { bearer })).text;

  const joined = () =>
    service.database.query(
      `SELECT 'consent' AS what FROM consents x JOIN clients c ON c.id = x.client_id JOIN users u ON u.id = x.user_id
        WHERE u.realm <> c.realm
        UNION ALL SELECT 'grant' FROM grants x JOIN clients c ON c.id = x.client_id JOIN users u ON u.id = x.user_id
        WHERE u.realm <> c.realm
        UNION ALL SELECT 'code' FROM authorization_codes x JOIN clients c ON c.id = x.client_id JOIN users u ON u.id = x.user_id
        WHERE u.realm <> c.realm
        UNION ALL SELECT 'event' FROM events x JOIN users u ON u.id = x.user_id WHERE u.realm <> x.realm
        UNION ALL SELECT 'endpoint' FROM webhook_endpoints x JOIN clients c ON c.id = x.client_id WHERE x.realm <> c.realm
        UNION ALL SELECT 'delivery' FROM deliveries x JOIN events e ON e.id = x.event_id
                         JOIN webhook_endpoints w ON w.id = x.endpoint_id WHERE e.realm <> w.realm OR x.realm <> e.realm`,
    );

  it('no route leads, whatever was done before, and every route leads within one', async () => {
    const attempt = fc.record<Attempt>({
      route: fc.constantFrom(...Object.keys(ROUTES)),
      from: fc.nat({ max: 2 }),
      to: fc.nat({ max: 2 }),
      which: fc.nat({ max: 1 }),
    });
    const every = Object.keys(ROUTES).flatMap((route) =>
      [0, 1, 2].flatMap((from) => [0, 1, 2].map((to): Attempt => ({ route, from, to, which: 0 }))),
    );
    await alwaysAsync(
      fc.asyncProperty(fc.array(attempt, { minLength: 10, maxLength: 30 }), async (walk) => {
        for (const { route, from, to, which } of walk) {
          const gotThrough = await ROUTES[route]!(realms[from]!, realms[to]!, which);
          const where = `${route} from ${from} to ${to}`;
          if (from !== to) expect([where, gotThrough]).toEqual([where, false]);
          else if (!(from === 0 && ONLY_IN_SANDBOXES.includes(route)))
            expect([where, gotThrough]).toEqual([where, true]);
        }
        expect(await joined()).toEqual([]);
      }),
      2,
      { examples: [[every]] },
    );
    expect(unexpectedErrors(service)).toEqual([]);
  });

  describe('the database refuses', () => {
    const [LIVE, OWN, OTHER] = [0, 1, 2];
    const insertConsent = 'INSERT INTO consents (client_id, user_id, scopes, realm) VALUES ($1, $2, $3, $4)';
    const fresh = (): string[] => [];

    /** Tries it with the realm of either side, and with none. */
    async function refused(sql: string, params: unknown[], realmsToTry: string[]): Promise<void> {
      for (const realm of realmsToTry) {
        const attempt = service.database.query(sql, [...params, realm]);
        await expect(attempt).rejects.toMatchObject({ code: '23503' });
      }
    }
    const realmNames = (): string[] => [LIVE_REALM, realms[OWN]!.name, realms[OTHER]!.name];

    it.each([
      ['live', 'in the sandbox of its owner', LIVE, OWN],
      ['in a sandbox', 'live', OWN, LIVE],
      ['in a sandbox', 'in another’s', OWN, OTHER],
      ['live', 'in a stranger’s sandbox', LIVE, OTHER],
    ])('consents, and so grants and codes, of a client %s and a user %s', async (_of, _and, from, to) => {
      const [client, user] = [realms[from]!.client.id, realms[to]!.userIds[1]!];
      await refused(insertConsent, [client, user, fresh()], realmNames());
      const grant = service.database.query(
        `INSERT INTO authorization_codes (digest, client_id, user_id, redirect_uri, scopes, expires_at)
         VALUES (decode(repeat('00', 32), 'hex'), $1, $2, 'https://x.example', '{}', now())`,
        [client, user],
      );
      await expect(grant).rejects.toMatchObject({ code: '23503' });
    });

    it.each([
      ['live', 'in a sandbox', LIVE, OWN],
      ['in a sandbox', 'live', OWN, LIVE],
      ['in a sandbox', 'in another’s', OWN, OTHER],
    ])('events %s about users %s, and deliveries and endpoints between them', async (_of, _and, from, to) => {
      const [here, there] = [realms[from]!, realms[to]!];
      const insertEvent = (userId: string) => {
        const id = newId('evnt');
        return service.database
          .query(
            "INSERT INTO events (id, type, user_id, payload, deliveries, realm) VALUES ($1, 'vehicle.updated', $2, '{}', 1, $3)",
            [id, userId, here.name],
          )
          .then(() => id);
      };
      await expect(insertEvent(there.userIds[0]!)).rejects.toMatchObject({ code: '23503' });
      const id = await insertEvent(here.userIds[0]!);
      await refused(
        `INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, realm)
         VALUES (new_delivery_id(), $1, 'vehicle.updated', $2, $3, $4)`,
        [id, there.endpointId, there.client.id],
        realmNames(),
      );
      const endpoint = service.database.query('UPDATE webhook_endpoints SET client_id = $1 WHERE id = $2', [
        here.client.id,
        there.endpointId,
      ]);
      await expect(endpoint).rejects.toMatchObject({ code: '23503' });
    });

    it('another environment or owner of what exists', async () => {
      const [{ client, userIds }, stranger] = [realms[OWN]!, realms[OTHER]!];
      const changes: [string, unknown[]][] = [
        ["UPDATE clients SET environment = 'live', realm = 'live' WHERE id = $1", [client.id]],
        ["UPDATE clients SET environment = 'live' WHERE id = $1", [client.id]],
        ['UPDATE clients SET owner_id = $2, realm = $2 WHERE id = $1', [client.id, stranger.ownerId]],
        ['UPDATE clients SET owner_id = $2 WHERE id = $1', [client.id, stranger.ownerId]],
        ["UPDATE clients SET scopes = '{admin:read}' WHERE id = $1", [client.id]],
        [
          "UPDATE clients SET environment = 'sandbox', realm = owner_id WHERE id = $1",
          [realms[LIVE]!.client.id],
        ],
        [
          "UPDATE users SET environment = 'live', realm = 'live', sandbox_owner_id = NULL WHERE id = $1",
          [userIds[0]],
        ],
        ['UPDATE users SET realm = $2, sandbox_owner_id = $2 WHERE id = $1', [userIds[0], stranger.ownerId]],
        ["UPDATE users SET password_hash = 'x' WHERE id = $1", [userIds[0]]],
        ['UPDATE users SET email_verified_at = now() WHERE id = $1', [userIds[0]]],
        ["UPDATE users SET role = 'operator' WHERE id = $1", [userIds[0]]],
        ['UPDATE clients SET owner_id = $2 WHERE id = $1', [realms[LIVE]!.client.id, userIds[0]]],
        ['UPDATE sandbox_drivers SET owner_id = $2 WHERE user_id = $1', [userIds[0], stranger.ownerId]],
      ];
      for (const [sql, params] of changes) {
        const code = await service.database.query(sql, params).then(
          () => 'accepted',
          (error: { code: string }) => error.code,
        );
        // A foreign key, a check, or the trigger that keeps what is fixed.
        expect([sql, ['23503', '23514', '23001'].includes(code)]).toEqual([sql, true]);
      }
    });
  });
});
