import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { PARTNER_SCOPES, REDIRECT_URI } from '../support/factory.js';
import { madeForEach, madeOnce, unexpectedErrors, until, useSharedService } from '../support/spec.js';
import { TYPE, WEBHOOK_ENV, Webhooks, type TestEndpoint } from '../support/webhooks.js';

describe('An event', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });
  let user: UserEntity;

  const webhooks = madeOnce(() => Webhooks.start(service));
  const client = madeForEach(() => service.make.client());
  beforeEach(async () => (user = await webhooks.consentedUser(client)));
  afterEach(() => expect(unexpectedErrors(service)).toEqual([]));

  const query = (sql: string, params: unknown[] = []) => service.database.query(sql, params);
  const admin = (method: string, path: string, json?: unknown) =>
    service.http.send(path, { method, bearer: webhooks.bearer, json });
  const patch = (endpoint: TestEndpoint, json: unknown) =>
    admin('PATCH', `/admin/webhook_endpoints/${endpoint.id}`, json);
  const setEnabled = (enabled: boolean) => service.make.updateClient(client, { enabled });
  const consents = () => service.app.get(ConsentsService);

  /** Returns the ids of the endpoints that an event goes to, and checks that the answer gives the same number. */
  async function targetsOf(type = TYPE, of: UserEntity = user): Promise<string[]> {
    const answer = await webhooks.publish(of.id, { type });
    expect(answer.status).toBe(202);
    const rows = await webhooks.deliveriesOf(answer.json.id as string);
    expect(answer.json.deliveries).toBe(rows.length);
    return rows.map(({ endpoint_id }) => endpoint_id).sort();
  }

  describe('does not go to', () => {
    const endpoint = madeForEach(() => webhooks.endpoint(client));
    beforeEach(async () => expect(await targetsOf()).toEqual([endpoint.id]));
    afterEach(() => expect(webhooks.received(endpoint).length).toBeLessThanOrEqual(2));

    it('a disabled endpoint, until it is enabled', async () => {
      await patch(endpoint, { enabled: false });
      expect(await targetsOf()).toEqual([]);
      await patch(endpoint, { enabled: true });
      expect(await targetsOf()).toEqual([endpoint.id]);
    });

    it('a deleted endpoint', async () => {
      await admin('DELETE', `/admin/webhook_endpoints/${endpoint.id}`);
      expect(await targetsOf()).toEqual([]);
    });

    it('an endpoint that subscribed to other types', async () => {
      expect(await targetsOf('charging_session.updated')).toEqual([]);
      await patch(endpoint, { event_types: ['charging_session.updated', 'vehicle.deleted'] });
      expect(await targetsOf()).toEqual([]);
      expect(await targetsOf('charging_session.updated')).toEqual([endpoint.id]);
    });

    it('a disabled client, until it is enabled', async () => {
      await setEnabled(false);
      expect(await targetsOf()).toEqual([]);
      await setEnabled(true);
      expect(await targetsOf()).toEqual([endpoint.id]);
    });

    it('a client that no longer holds the scope', async () => {
      await query("UPDATE clients SET scopes = '{vehicle:read}' WHERE id = $1", [client.id]);
      expect(await targetsOf()).toEqual([]);
      await query('UPDATE clients SET scopes = $2 WHERE id = $1', [client.id, PARTNER_SCOPES]);
      expect(await targetsOf()).toEqual([endpoint.id]);
    });

    it('a client to which this user never consented, although others did', async () => {
      expect(await targetsOf(TYPE, await service.make.user())).toEqual([]);
      expect(await targetsOf(TYPE, await webhooks.consentedUser(await service.make.client()))).toEqual([]);
    });

    it('a client whose consent was withdrawn, until it is given again', async () => {
      await consents().revoke(client.id, user.id, SERVICE_ACTOR);
      expect(await targetsOf()).toEqual([]);
      await service.make.consent(client, user);
      expect(await targetsOf()).toEqual([endpoint.id]);
    });

    it('any client while the user is disabled', async () => {
      await service.make.setEnabled(user, false);
      expect(await targetsOf()).toEqual([]);
      await service.make.setEnabled(user, true);
      expect(await targetsOf()).toEqual([endpoint.id]);
    });

    it('a client whose consent does not include the scope', async () => {
      await service.make.consent(client, user, ['vehicle:read']);
      expect(await targetsOf()).toEqual([]);
    });
  });

  it('goes once to every endpoint that should receive it, in the same bytes with its id, and to no other', async () => {
    const other = await service.make.client();
    const third = await service.make.client({ scopes: ['vehicle:read'] });
    await service.make.consent(other, user, ['charging_session:read']);
    await service.make.consent(third, user, ['vehicle:read']);
    const mine = await Promise.all([1, 2, 3, 4, 5].map(() => webhooks.endpoint(client)));
    const theirs = await webhooks.endpoint(other, { types: ['vehicle.updated', TYPE] });
    const silent = [
      await webhooks.endpoint(client, { types: ['vehicle.updated'] }),
      await webhooks.endpoint(client, { enabled: false }),
      await webhooks.endpoint(third, { types: ['vehicle.updated'] }),
      await webhooks.endpoint(await service.make.client()),
    ];
    const answer = await webhooks.publish(user.id, { data: { kwh: 1.5 } });
    expect(answer.json.deliveries).toBe(6);
    const expected = [...mine, theirs];
    for (const endpoint of expected) await webhooks.receives(endpoint);
    const rows = await webhooks.deliveriesOf(answer.json.id as string);
    expect(rows.map(({ endpoint_id }) => endpoint_id).sort()).toEqual(expected.map(({ id }) => id).sort());
    for (const row of rows) expect(await webhooks.finished(row.id)).toMatchObject({ state: 'delivered' });
    expect(expected.map((each) => webhooks.received(each).length)).toEqual(expected.map(() => 1));
    expect(silent.map((each) => webhooks.received(each).length)).toEqual(silent.map(() => 0));
    const bodies = new Set(expected.flatMap((each) => webhooks.received(each)).map(({ body }) => body));
    expect([...bodies].map((body) => JSON.parse(body) as unknown)).toEqual([
      {
        id: answer.json.id,
        type: TYPE,
        timestamp: '2026-01-01T00:00:00Z',
        user_id: user.id,
        data: { kwh: 1.5 },
      },
    ]);
    // Only the second client holds the scope and has the consent for it.
    expect(await targetsOf('vehicle.updated')).toEqual([silent[0]!.id, silent[2]!.id].sort());
  });

  it('has an id that puts deliveries in chronological order', async () => {
    const now = () =>
      service.database.value<number>('SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8');
    await Promise.all(Array.from({ length: 5 }, () => webhooks.endpoint(client)));
    const before = await now();
    const answer = await webhooks.publish(user.id);
    const after = await now();
    const rows = await webhooks.deliveriesOf(answer.json.id as string);
    expect(rows).toHaveLength(5);
    for (const { id } of rows) {
      expect(id).toMatch(/^dlvr[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
      const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
      const time = [...id.slice(4, 14)].reduce((sum, letter) => sum * 32 + alphabet.indexOf(letter), 0);
      expect([time >= before, time <= after]).toEqual([true, true]);
    }
  });

  describe('about a consent', () => {
    const TYPES = ['user.consent_granted', 'user.consent_revoked'];
    const endpoint = madeForEach(() => webhooks.endpoint(client, { types: TYPES }));
    const other = madeForEach(() => service.make.client());
    const bystander = madeForEach(() => webhooks.endpoint(other, { types: TYPES }));
    beforeEach(async () => {
      user = await service.make.user();
      await service.make.consent(other, user);
      await webhooks.receives(bystander);
    });
    afterEach(() => expect(webhooks.received(bystander)).toHaveLength(1));

    const told = () =>
      webhooks
        .received(endpoint)
        .map(({ body }) => JSON.parse(body) as { type: string; user_id: string; data: unknown })
        .map(({ type, user_id, data }) => ({ type, user_id, data }));
    const ids = () => webhooks.received(endpoint).map(({ body }) => (JSON.parse(body) as { id: string }).id);
    const event = (kind: 'granted' | 'revoked', scopes: string[]) => ({
      type: `user.consent_${kind}`,
      user_id: user.id,
      data: { client_id: client.id, scopes },
    });
    const consentPath = () => `/admin/clients/${client.id}/consents/${user.id}`;

    it('is not sent if nothing changed or the change was refused', async () => {
      expect((await admin('PUT', consentPath(), { scopes: ['unknown'] })).status).toBe(400);
      expect((await admin('DELETE', consentPath())).status).toBe(404);
      for (let n = 0; n < 3; n++)
        expect((await admin('PUT', consentPath(), { scopes: PARTNER_SCOPES })).status).toBe(200);
      await webhooks.receives(endpoint);
      const n = await service.database.value<number>(
        "SELECT count(*)::int AS n FROM events WHERE user_id = $1 AND payload LIKE '%' || $2 || '%'",
        [user.id, client.id],
      );
      expect(n).toBe(1);
    });

    it('is sent when the user approves on the consent page', async () => {
      const browser = await service.make.signedIn(user);
      const request = { response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI };
      await browser.authorize({ ...request, scope: 'vehicle:read' });
      await webhooks.receives(endpoint);
      await browser.authorize({ ...request, scope: PARTNER_SCOPES.join(' ') });
      await webhooks.receives(endpoint, 2);
      const stored = await service.database.column<string>(
        'SELECT id FROM events WHERE user_id = $1 AND id = ANY ($2) ORDER BY id',
        [user.id, ids()],
      );
      expect(stored).toEqual(ids());
      expect(told()).toEqual([
        event('granted', ['vehicle:read']),
        event('granted', expect.anything() as string[]),
      ]);
      expect((told()[1]!.data as { scopes: string[] }).scopes.sort()).toEqual(PARTNER_SCOPES);
    });

    it('is sent when an operator records, narrows and withdraws the consent, even though no consent is left then', async () => {
      await admin('PUT', consentPath(), { scopes: PARTNER_SCOPES });
      await webhooks.receives(endpoint);
      await admin('PUT', consentPath(), { scopes: ['vehicle:read'] });
      await webhooks.receives(endpoint, 2);
      expect((await admin('DELETE', consentPath())).status).toBe(204);
      await webhooks.receives(endpoint, 3);
      expect(told()).toEqual([
        event('granted', PARTNER_SCOPES),
        event('granted', ['vehicle:read']),
        event('revoked', []),
      ]);
    });

    it('is sent when the user disconnects the application', async () => {
      await service.make.consent(client, user);
      await webhooks.receives(endpoint);
      await consents().withdraw(client.id, user.id, { type: 'user', id: user.id });
      await consents().withdraw(client.id, user.id, { type: 'user', id: user.id });
      await webhooks.receives(endpoint, 2);
      expect(told().map(({ type }) => type)).toEqual(TYPES);
    });

    it('does not go to endpoints of a disabled client or without a subscription', async () => {
      const deaf = await webhooks.endpoint(client);
      await setEnabled(false);
      await service.app.get(ConsentApprovals).record(client.id, user.id, PARTNER_SCOPES, null, SERVICE_ACTOR);
      await setEnabled(true);
      await consents().revoke(client.id, user.id, SERVICE_ACTOR);
      await webhooks.receives(endpoint);
      expect(told()).toEqual([event('revoked', [])]);
      expect(webhooks.received(deaf)).toEqual([]);
    });

    it('is rolled back together with the change that it reports', async () => {
      await query("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no''; END'");
      await query(
        'CREATE CONSTRAINT TRIGGER refuse AFTER INSERT OR UPDATE ON consents DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()',
      );
      const from = service.log.length;
      expect((await admin('PUT', consentPath(), { scopes: PARTNER_SCOPES })).status).toBe(500);
      await query('DROP FUNCTION refuse CASCADE');
      expect(unexpectedErrors(service, from)).toHaveLength(1);
      service.log.length = from;
      expect(await query('SELECT 1 FROM deliveries WHERE endpoint_id = $1', [endpoint.id])).toEqual([]);
    });

    it('is sent for each of several concurrent changes', async () => {
      const giveAndTake = async () => {
        await service.make.consent(client, user);
        await consents().withdraw(client.id, user.id, SERVICE_ACTOR);
      };
      await giveAndTake();
      await Promise.all(Array.from({ length: 10 }, giveAndTake));
      const kinds = () =>
        service.database.column<string>('SELECT event_type AS type FROM deliveries WHERE endpoint_id = $1', [
          endpoint.id,
        ]);
      const all = await kinds();
      await until('all have arrived', () => webhooks.received(endpoint).length === all.length);
      const granted = all.filter((type) => type === 'user.consent_granted').length;
      // Consents were given and withdrawn alternately.
      expect([granted, all.length]).toEqual([all.length / 2, 2 * granted]);
    });
  });
});
