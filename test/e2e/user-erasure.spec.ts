import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { setUpFailingEndpoint } from '../support/failing-endpoint.js';
import { enterPortal, type TestEndpoint, TYPE, until, wordsOf } from '../support/spec.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { tablesThatHold } from '../support/tables.js';

const REVOKED = 'user.consent_revoked';
/** Only occurs in the data published about the person. */
const DATA = 'the-secret-of-the-person';

interface Body {
  type: string;
  user_id: string;
  data: Record<string, unknown>;
}

describe('When a person is erased,', () => {
  const own = setUpFailingEndpoint('1000,1000', [TYPE, 'user.consent_granted', REVOKED]);
  const { service, webhooks, admin, query } = own;
  let { client, user, endpoint } = own;
  beforeEach(() => void ({ client, user, endpoint } = own));

  const erase = async (): Promise<void> =>
    expect((await admin('DELETE', `/admin/users/${user.id}`)).status).toBe(204);
  const publish = (of = user) => webhooks.publish(of.id, { data: { note: DATA } });
  const publishOne = () => webhooks.publishOne(user.id, { data: { note: DATA } });
  const failedOnce = async () => webhooks.attempted((await publishOne()).id);
  const bodiesAt = (at: TestEndpoint): Body[] =>
    webhooks.received(at).map(({ body }) => JSON.parse(body) as Body);
  const revocationsAt = (at: TestEndpoint) => bodiesAt(at).filter(({ type }) => type === REVOKED);
  const revocation = async (): Promise<string> => {
    const [row] = await query<{ id: string }>(
      'SELECT id FROM deliveries WHERE endpoint_id = $1 AND event_type = $2',
      [endpoint.id, REVOKED],
    );
    return row!.id;
  };

  it('each client that could read the data is told once, and no other client', async () => {
    const [second, former, stranger] = [
      await service.make.client(),
      await service.make.client(),
      await service.make.client(),
    ];
    for (const each of [second, former]) await service.make.consent(each, user);
    await admin('DELETE', `/admin/clients/${former.id}/consents/${user.id}`);
    const types = [REVOKED];
    const told = [await webhooks.endpoint(client, { types }), await webhooks.endpoint(second, { types })];
    const silent = [await webhooks.endpoint(former, { types }), await webhooks.endpoint(stranger, { types })];
    await erase();
    for (const each of told) await webhooks.receives(each);
    expect(told.map((each) => revocationsAt(each))).toEqual(
      [client, second].map(({ id }) => [
        expect.objectContaining({ type: REVOKED, user_id: user.id, data: { client_id: id, scopes: [] } }),
      ]),
    );
    expect(silent.map((each) => webhooks.received(each).length)).toEqual([0, 0]);
    const [entry] = (await admin('GET', `/admin/audit_events?subject=${user.id}`))
      .json as unknown as object[];
    expect(entry).toMatchObject({
      action: 'user.erased',
      before: { clients: [client.id, second.id].sort(), former_clients: [former.id] },
      after: null,
    });
  });

  it('no client is told if the erasure is refused', async () => {
    await service.make.client({ ownerId: user.id });
    expect((await admin('DELETE', `/admin/users/${user.id}`)).status).toBe(409);
    expect(await query('SELECT 1 FROM events WHERE user_id = $1 AND type = $2', [user.id, REVOKED])).toEqual(
      [],
    );
    const [consent] = await query('SELECT revoked_at FROM consents WHERE user_id = $1', [user.id]);
    expect(consent).toEqual({ revoked_at: null });
  });

  it('the announcement is retried and can be resent, although the account no longer exists', async () => {
    await erase();
    const id = await revocation();
    expect(await webhooks.attempted(id)).toMatchObject({ state: 'pending' });
    webhooks.answer(endpoint.path, 200);
    await webhooks.makeDue(id);
    expect(await webhooks.finished(id)).toMatchObject({ state: 'delivered', attempts: 2 });
    expect((await admin('POST', `/admin/deliveries/${id}/resend`)).status).toBe(202);
    await webhooks.attempted(id, 3);
    const sent = webhooks.received(endpoint).filter(({ headers }) => headers['webhook-id'] === id);
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
    expect(sent).toHaveLength(3);
    for (const { body, headers } of sent)
      new Webhook(endpoint.secret).verify(body, headers as Record<string, string>);
  });

  it('an earlier announcement of a disconnection that is still pending is delivered too', async () => {
    await admin('DELETE', `/admin/clients/${client.id}/consents/${user.id}`);
    const id = await revocation();
    await webhooks.attempted(id);
    await erase();
    webhooks.answer(endpoint.path, 200);
    await webhooks.makeDue(id);
    expect(await webhooks.finished(id)).toMatchObject({ state: 'delivered' });
  });

  it('other pending deliveries are cancelled and stay listed, without the data', async () => {
    const echo = (response: ServerResponse, { body }: { body: string }) =>
      void response.writeHead(500).end(body);
    webhooks.answer(endpoint.path, echo);
    const { id, event_id } = await failedOnce();
    await admin('PUT', `/admin/clients/${client.id}/consents/${user.id}`, {
      scopes: ['charging_session:read'],
    });
    await until('the other was tried too', () => webhooks.received(endpoint).length === 2);
    const other = webhooks.received(endpoint)[1]!.headers['webhook-id'] as string;
    await webhooks.attempted(other);
    await erase();
    for (const each of [id, other]) {
      expect(await webhooks.delivery(each)).toMatchObject({
        state: 'cancelled',
        cancel_reason: 'consent_withdrawn',
        attempts: 1,
        wait: null,
      });
    }
    expect(await query('SELECT user_id, payload FROM events WHERE id = $1', [event_id])).toEqual([
      { user_id: null, payload: null },
    ]);
    const shown = await admin('GET', `/admin/deliveries/${id}`);
    expect(shown.json).toMatchObject({
      state: 'cancelled',
      payload: null,
      attempts: [{ response_start: null }],
    });
    const portal = await enterPortal(service, client);
    const page = await portal.open(`/portal/deliveries/${id}`);
    expect(wordsOf(page)).toContain('The account of the user was erased');
    expect(page.html.querySelector('form[action$="/resend"]')).toBeNull();
    expect((await portal.open('/portal/deliveries')).text).toContain(id);
    expect((await admin('POST', `/admin/deliveries/${id}/resend`)).status).toBe(409);
  });

  it('no table contains data published about the person any more', async () => {
    webhooks.answer(endpoint.path, (response, { body }) => void response.writeHead(200).end(body));
    await webhooks.finished((await publishOne()).id);
    // The tests of this file share the same data; only this person's counts.
    await query('DELETE FROM events WHERE user_id IS DISTINCT FROM $1', [user.id]);
    expect(await tablesThatHold(service, DATA)).toEqual(['delivery_attempts', 'events']);
    await erase();
    expect(await tablesThatHold(service, DATA)).toEqual([]);
  });

  it('an attempt in progress ends by itself, its answer is not stored, and no other attempt follows', async () => {
    const held: (() => void)[] = [];
    webhooks.answer(endpoint.path, (response, { body }) => {
      held.push(() => void response.writeHead(500).end(body));
    });
    const { id } = await publishOne();
    await until('the attempt is under way', () => held.length === 1);
    await erase();
    expect(await webhooks.delivery(id)).toMatchObject({ state: 'pending', attempts: 0 });
    held.forEach((answer) => answer());
    expect(await webhooks.finished(id)).toMatchObject({
      state: 'cancelled',
      cancel_reason: 'consent_withdrawn',
      attempts: 1,
    });
    const attempts = await query(
      'SELECT status, response_start FROM delivery_attempts WHERE delivery_id = $1',
      [id],
    );
    expect(attempts).toEqual([{ status: 500, response_start: null }]);
    expect(bodiesAt(endpoint).filter(({ type }) => type === TYPE)).toHaveLength(1);
  });

  it('nothing is kept of the responses to attempts', async () => {
    webhooks.answer(endpoint.path, (response) => void response.setHeader('x-echo', user.id).end('ok'));
    const { id } = await publishOne();
    await webhooks.finished(id);
    const headers = async () =>
      JSON.stringify(
        await query('SELECT response_headers FROM delivery_attempts WHERE delivery_id = $1', [id]),
      );
    expect(await headers()).toContain(user.id);
    await erase();
    expect(await headers()).toBe('[{"response_headers":null}]');
  });

  it('an attempt is not retried after its worker died', async () => {
    const { id } = await failedOnce();
    await query(
      "UPDATE deliveries SET lease_id = 'dead', due_at = now(), next_attempt_at = now() - interval '1 second' WHERE id = $1",
      [id],
    ).then(erase);
    await webhooks.finished(id);
    const sent = bodiesAt(endpoint).filter(({ type }) => type === TYPE);
    // Whether the erasure or a worker came first, nothing about the person was sent after it.
    expect([(await webhooks.delivery(id)).state, sent.length <= 2]).toEqual(['cancelled', true]);
  });

  describe('an event about the person that is published at that moment', () => {
    const GATE = 4712;
    /** Starts one after the other while every insertion into the table is held, and lets them go on when both wait. */
    const heldAtOnce = async <A, B>(table: string, first: () => Promise<A>, second: () => Promise<B>) => {
      await query(`CREATE OR REPLACE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_advisory_xact_lock_shared(${GATE}); RETURN NEW; END $$`);
      await query(
        `CREATE TRIGGER gate BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION wait_at_gate()`,
      );
      await query('SELECT pg_advisory_lock($1)', [GATE]);
      const started: [Promise<A>?, Promise<B>?] = [];
      try {
        started[0] = first();
        await untilWaitingForLocks(service.database, 1);
        started[1] = second();
        await untilWaitingForLocks(service.database, 2);
      } finally {
        await query('SELECT pg_advisory_unlock($1)', [GATE]);
      }
      const done = await Promise.all([started[0]!, started[1]!]);
      await query(`DROP TRIGGER gate ON ${table}`);
      return done;
    };

    it('is stored before the erasure and then cancelled, or refused', async () => {
      const [answer] = await heldAtOnce('deliveries', publish, erase);
      if (answer.status === 202) {
        const [row] = await webhooks.deliveriesOf(answer.json.id as string);
        await webhooks.finished(row!.id);
        const [event] = await query('SELECT user_id, payload FROM events WHERE id = $1', [answer.json.id]);
        expect(event).toEqual({ user_id: null, payload: null });
      } else {
        expect(answer.status).toBe(400);
      }
    });

    it('is refused after the erasure', async () => {
      const [, answer] = await heldAtOnce('audit_events', erase, publish);
      expect([answer.status, Object.keys(answer.json.field_errors as object)]).toEqual([400, ['user_id']]);
    });
  });
});
