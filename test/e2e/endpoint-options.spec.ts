import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { HEADER_MASK } from '#events/webhooks/endpoints/endpoint-headers.js';
import type { BrowserSession, Page } from '../support/browser-session.js';
import { postedAnew, type TestClient, until, useSharedService } from '../support/spec.js';
import { madeForEach, madeOnce } from '../support/made.js';
import { enterPortal, errorAt, wordsOf } from '../support/portal.js';
import { TYPE, WEBHOOK_ENV, Webhooks, type TestEndpoint } from '../support/webhooks.js';
import { listOf } from '../support/list-of.js';

const SECRET = 'Bearer a-secret-of-the-partner';
/** Headers that HTTP or the service uses, in any case. */
const RESERVED = listOf(`
  Host, content-length, Content-Type, connection, Transfer-Encoding, te, upgrade, expect,
  proxy-authorization, user-agent, webhook-signature, WEBHOOK-anything
`);

/* Contract §22: the throttle and the headers of an endpoint, and what it missed while it was disabled. */
describe('An endpoint', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });

  const webhooks = madeOnce(() => Webhooks.start(service));
  /** What is refused changes nothing: those tests share a client, and its portal. */
  let kept: TestClient | undefined;
  const client = madeForEach(() => kept ?? service.make.client());
  let entered: Promise<BrowserSession> | undefined;
  beforeEach(() => void (kept || (entered = undefined)));
  /** The portal of the client, entered when a test first needs it: most do without. */
  const portal = (): Promise<BrowserSession> => (entered ??= enterPortal(service, client));
  const openPage = async (path: string): Promise<Page> => (await portal()).open(path);
  const submit = async (page: Page, action: string, fields: Record<string, string> = {}): Promise<Page> =>
    (await portal()).submit(page, action, fields);

  const query = <T>(sql: string, params: unknown[] = []) => service.database.query<T>(sql, params);
  const create = (json: object) => webhooks.add(client, json);
  const patch = (id: string, json: object) => webhooks.change(id, json);
  const fieldErrors = (answer: { json: Record<string, unknown> }) =>
    answer.json.field_errors as Record<string, string[]>;
  const pathOf = ({ id }: { id: string }) => `/portal/endpoints/${id}`;
  const reveal = async (endpoint: { id: string }) =>
    submit(await openPage(pathOf(endpoint)), `${pathOf(endpoint)}/headers`);
  const editPath = (endpoint: { id: string }) => `${pathOf(endpoint)}/edit`;
  const edit = async (endpoint: { id: string }, fields: Record<string, string>) =>
    submit(await openPage(editPath(endpoint)), editPath(endpoint), fields);

  describe('is refused', () => {
    beforeAll(async () => void ([kept, entered] = [await service.make.client(), undefined]));
    const endpoint = madeOnce(() => webhooks.endpoint(kept!));
    afterAll(() => void (kept = undefined));

    it.each<[string, unknown]>([
      ['a list', ['x: y']],
      ['null', null],
      ['a name with a space', { 'x y': 'z' }],
      ['a name with a colon', { 'x:': 'z' }],
      ['an empty name', { '': 'z' }],
      ['a name of 65 characters', { [`x${'-'.repeat(64)}`]: 'z' }],
      ...RESERVED.map((name): [string, unknown] => [name, { [name]: 'x' }]),
      ['an empty value', { 'x-y': '' }],
      ['a value of 513 characters', { 'x-y': 'z'.repeat(513) }],
      ['a line break', { 'x-y': 'a\r\nwebhook-id: b' }],
      ['a tab', { 'x-y': 'a\tb' }],
      ['a space at the end', { 'x-y': 'a ' }],
      ['a letter outside of ASCII', { 'x-y': 'é' }],
      ['a number', { 'x-y': 3 }],
      ['an object', { 'x-y': {} }],
      ['nothing to keep', { 'x-y': null }],
      ['one name twice', { 'x-y': 'a', 'X-Y': 'b' }],
      ['eleven', Object.fromEntries(Array.from({ length: 11 }, (_, n) => [`x-${n}`, 'a']))],
    ])('with the headers %s', async (_what, headers) => {
      const answer = await create({ headers });
      expect([answer.status, Object.keys(fieldErrors(answer))]).toEqual([400, ['headers']]);
    });

    it('with headers, beside the field of the portal, with what was typed', async () => {
      for (const [typed, error] of [
        ['x-y', 'Line 1 must be a name, a colon and a value'],
        ['host: a', 'host cannot be used'],
        ['x: a\nX: b', 'must name each header once'],
        [`x-new: ${HEADER_MASK}`, 'the value of x-new must be entered'],
      ] as const) {
        const page = await edit(endpoint, { headers: typed });
        expect([page.status, errorAt(page, 'headers')]).toEqual([
          400,
          expect.stringContaining(error.slice(1)),
        ]);
        expect(page.html.querySelector('#headers')!.textContent.trim()).toBe(typed);
      }
    });

    it.each([0, -1, 6001, 1.5, '60', true, {}])('with the throttle %j', async (limit) => {
      const answer = await create({ max_per_minute: limit });
      expect([answer.status, Object.keys(fieldErrors(answer))]).toEqual([400, ['max_per_minute']]);
    });

    it.each(['0', '6001', 'x', '1.5', '1e3'])(
      'with a throttle, beside the field of the portal: %s',
      async (limit) => {
        const page = await edit(endpoint, { max_per_minute: limit });
        expect([page.status, errorAt(page, 'max-per-minute')]).toEqual([
          400,
          'Enter a whole number from 1 to 6,000, or nothing.',
        ]);
      },
    );
  });

  describe('has headers of its own', () => {
    it('which each attempt carries, and which are sealed, masked, and revealed on request', async () => {
      const created = await create({ headers: { Authorization: SECRET, 'x-tenant': 'northwind' } });
      expect([created.status, created.json.headers]).toEqual([201, ['authorization', 'x-tenant']]);
      const id = created.json.id as string;
      const { id: deliveryId } = await webhooks.publishOne((await webhooks.consentedUser(client)).id);
      await webhooks.finished(deliveryId);
      const [request] = webhooks.receiver.requests.filter(
        ({ headers }) => headers['webhook-id'] === deliveryId,
      );
      expect(request!.headers).toMatchObject({ authorization: SECRET, 'x-tenant': 'northwind' });

      const [row] = await query<{ line: string; sealed: Buffer }>(
        'SELECT e::text AS line, sealed_headers AS sealed FROM webhook_endpoints e WHERE id = $1',
        [id],
      );
      expect(row!.line + row!.sealed.toString('latin1')).not.toContain('a-secret-of');
      const audited = await query('SELECT before::text || after::text AS text FROM audit_events');
      expect(JSON.stringify(audited)).not.toContain('a-secret-of');
      const paths = [`/portal/endpoints/${id}`, editPath({ id }), `/portal/deliveries/${deliveryId}`];
      for (const path of paths) {
        const page = await openPage(path);
        expect([path, page.text.includes('a-secret-of')]).toEqual([path, false]);
        expect(page.text).toContain(`authorization: ${HEADER_MASK}`);
      }
      for (const path of [
        `/admin/webhook_endpoints/${id}`,
        `/admin/clients/${client.id}/webhook_endpoints`,
      ]) {
        const { text } = await service.http.get(path, { bearer: webhooks.bearer });
        expect([text.includes('a-secret-of'), text.includes('"authorization"')]).toEqual([false, true]);
      }
      const revealed = await reveal({ id });
      expect([revealed.status, revealed.text.includes(SECRET)]).toEqual([200, true]);
      const [event] = await query<{ actor_id: string }>(
        "SELECT actor_id FROM audit_events WHERE action = 'webhook_endpoint.headers_revealed' AND subject_id = $1",
        [id],
      );
      expect(event!.actor_id).toBe(client.id);
      expect((await openPage(`/portal/endpoints/${id}/headers`)).status).toBe(303);
    });

    it('that change one by one: a masked value stays, and a new value is recorded without itself', async () => {
      const id = (await create({ headers: { a: 'one', b: 'two' } })).json.id as string;
      expect((await edit({ id }, { headers: `a: ${HEADER_MASK}\nb: three\nc: four` })).status).toBe(303);
      expect(wordsOf(await reveal({ id }))).toContain('a: one b: three c: four');
      const [event] = await query<{ before: unknown; after: unknown }>(
        "SELECT before, after FROM audit_events WHERE action = 'webhook_endpoint.updated' AND subject_id = $1",
        [id],
      );
      expect(event).toEqual({
        before: { headers: ['a', 'b'] },
        after: { headers: ['a', 'b (new value)', 'c (new value)'] },
      });
      expect((await patch(id, { headers: { c: null, d: 'five' } })).json.headers).toEqual(['c', 'd']);
      expect(wordsOf(await reveal({ id }))).toContain('c: four d: five');
      expect((await edit({ id }, {})).status).toBe(303);
      expect((await patch(id, { headers: {} })).json.headers).toEqual([]);
      expect((await openPage(`/portal/endpoints/${id}`)).text).not.toContain('Reveal headers');
      const sql = "SELECT 1 FROM audit_events WHERE subject_id = $1 AND action = 'webhook_endpoint.updated'";
      expect(await query(sql, [id])).toHaveLength(3);
    });

    it('without which nothing is sent, if no key can decrypt them', async () => {
      const { json } = await create({ headers: { a: 'one' } });
      await query("UPDATE webhook_endpoints SET sealed_headers = 'x' WHERE id = $1", [json.id]);
      const { id } = await webhooks.publishOne((await webhooks.consentedUser(client)).id);
      await webhooks.attempted(id);
      expect(webhooks.receiver.requests.some(({ headers }) => headers['webhook-id'] === id)).toBe(false);
      const page = await openPage(`/portal/deliveries/${id}`);
      expect(wordsOf(page)).toContain('Not sentThe headers of the endpoint can no longer be read');
      expect(wordsOf(page)).not.toMatch(/Invalid response|did not send a complete|Request headers|curl/);
      expect(wordsOf(await openPage('/portal/deliveries'))).toContain('Not sent');
      expect((await patch(json.id as string, { headers: { a: 'two' } })).status).toBe(200);
      await webhooks.makeDue(id);
      await webhooks.finished(id);
    });
  });

  describe('has a throttle', () => {
    it('which lets the rest wait as pending, holds up nobody else, and ends with the limit', async () => {
      const user = await webhooks.consentedUser(client);
      const slow = await webhooks.endpoint(client);
      const free = await webhooks.endpoint(client);
      expect((await edit(slow, { max_per_minute: '2' })).status).toBe(303);
      const shown = await service.http.get(`/admin/webhook_endpoints/${slow.id}`, {
        bearer: webhooks.bearer,
      });
      expect(shown.json.max_per_minute).toBe(2);
      for (let n = 0; n < 5; n++) await webhooks.publish(user.id);
      await webhooks.receives(free, 5);
      await webhooks.receives(slow, 2);
      const waiting = () =>
        query("SELECT 1 FROM deliveries WHERE endpoint_id = $1 AND state = 'pending' AND lease_id IS NULL", [
          slow.id,
        ]);
      await until('the rest waits', async () => (await waiting()).length === 3);
      await query(
        `UPDATE webhook_throttles SET blocked_until = '-infinity', start_seconds =
           ARRAY(SELECT s - interval '62 seconds' FROM unnest(start_seconds) s) WHERE endpoint_id = $1`,
        [slow.id],
      );
      await webhooks.receives(slow, 4);
      await until('one waits', async () => (await waiting()).length === 1);
      expect((await patch(slow.id, { max_per_minute: null })).json.max_per_minute).toBeNull();
      await webhooks.receives(slow, 5);
    });
  });

  it('has both in the console too, with errors beside the fields, and never shows a value', async () => {
    const { id } = await webhooks.endpoint(client);
    const path = `/admin/console/endpoints/${id}`;
    const operator = await service.make.signedInNew({ role: 'operator' });
    const save = async (fields: Record<string, string>) =>
      operator.submit(await operator.open(`${path}/edit`), `${path}/edit`, fields);
    const wrong = await save({ max_per_minute: '6001', headers: 'host: x' });
    expect([wrong.status, errorAt(wrong, 'headers')]).toEqual([400, expect.stringMatching(/^Host cannot/)]);
    const tooMany = await save({ max_per_minute: '6001' });
    expect(errorAt(tooMany, 'max_per_minute')).toBe('Enter a whole number from 1 to 6,000, or nothing.');
    expect((await save({ max_per_minute: '60', headers: 'x-tenant: northwind' })).status).toBe(303);
    expect((await save({ max_per_minute: '70' })).status).toBe(303);
    const page = await operator.open(path);
    for (const words of ['at most 70', 'x-tenant']) expect(wordsOf(page)).toContain(words);
    for (const each of [page, await operator.open(`${path}/edit`)])
      expect(each.text).not.toContain('northwind');
    expect((await reveal({ id })).text).toContain('x-tenant: northwind');
  });

  describe('that was disabled', () => {
    const turn = (endpoint: TestEndpoint, enabled: boolean) => patch(endpoint.id, { enabled });
    const sendMissed = async (endpoint: TestEndpoint, page?: Page) =>
      submit(page ?? (await openPage(pathOf(endpoint))), `${pathOf(endpoint)}/missed`, postedAnew());
    const idsOf = (endpoint: TestEndpoint) =>
      webhooks.received(endpoint).map(({ body }) => (JSON.parse(body) as { id: string }).id);
    const publish = async (userId: string, type = TYPE) =>
      (await webhooks.publish(userId, { type })).json.id as string;

    it('is sent what it missed, once, and only what consent allows today and then', async () => {
      const consents = service.app.get(ConsentsService);
      const [user, gone, disabled] = [
        await webhooks.consentedUser(client),
        await webhooks.consentedUser(client),
        await webhooks.consentedUser(client),
      ];
      const [late, narrow] = [await service.make.user(), await service.make.user()];
      await service.make.consent(client, narrow, ['vehicle:read']);
      const endpoint = await webhooks.endpoint(client);
      const before = await publish(user.id);
      await webhooks.receives(endpoint);
      await turn(endpoint, false);
      const first = await publish(user.id);
      const second = await publish(user.id);
      await publish(user.id, 'vehicle.updated');
      await publish(late.id);
      await publish(gone.id);
      await publish(disabled.id);
      await service.make.setEnabled(disabled, false);
      await publish(narrow.id);
      await service.make.consent(client, late);
      await consents.revoke(client.id, gone.id, SERVICE_ACTOR);
      // The scope of the type is added only now, to a consent that is older than the event.
      await service.make.consent(client, narrow);
      const third = await publish(narrow.id);
      expect((await openPage(pathOf(endpoint))).text).not.toContain('Send what was missed');
      await turn(endpoint, true);
      const page = await openPage(pathOf(endpoint));
      expect(wordsOf(page)).toContain('Events of that time were not sent to it');
      const answers = await Promise.all([sendMissed(endpoint, page), sendMissed(endpoint, page)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
      const recovery = answers.find(({ status }) => status === 303)!.headers.get('location')!;
      await until('all arrived', async () => wordsOf(await openPage(recovery)).includes('All done'));
      expect(wordsOf(await openPage(recovery))).toContain('3 deliveries of events that were missed');
      expect(idsOf(endpoint).sort()).toEqual([before, first, second, third].sort());
      expect((await openPage(pathOf(endpoint))).text).not.toContain('Send what was missed');
      const after = await publish(user.id);
      await webhooks.receives(endpoint, 5);
      expect(idsOf(endpoint).at(-1)).toBe(after);
      await turn(endpoint, false);
      const again = await publish(user.id);
      await turn(endpoint, true);
      expect((await sendMissed(endpoint)).status).toBe(303);
      await webhooks.receives(endpoint, 6);
      expect(idsOf(endpoint).at(-1)).toBe(again);
      const audited = await query<{ n: string }>(
        "SELECT after->>'deliveries' AS n FROM audit_events WHERE action = 'delivery.recovered' AND subject_id = $1 ORDER BY id",
        [endpoint.id],
      );
      expect(audited.map(({ n }) => n)).toEqual(['3', '1']);
    });

    it('is also sent events for the client alone, which another of its endpoints got', async () => {
      const types = ['user.consent_granted'];
      const [endpoint, other] = [
        await webhooks.endpoint(client, { types }),
        await webhooks.endpoint(client, { types }),
      ];
      await turn(endpoint, false);
      await webhooks.consentedUser(client);
      await webhooks.receives(other);
      await turn(endpoint, true);
      await sendMissed(endpoint);
      await webhooks.receives(endpoint);
      expect(idsOf(endpoint)).toEqual(idsOf(other));
    });

    it('is also sent what was being published when it was disabled', async () => {
      const user = await webhooks.consentedUser(client);
      const endpoint = await webhooks.endpoint(client);
      await turn(endpoint, false);
      const id = await publish(user.id);
      // The time of an event is that of the beginning of its transaction.
      await query(
        `UPDATE events SET created_at = (SELECT disabled_at FROM webhook_endpoints WHERE id = $2) - interval '1 ms' WHERE id = $1`,
        [id, endpoint.id],
      );
      await turn(endpoint, true);
      expect((await sendMissed(endpoint)).status).toBe(303);
      await webhooks.receives(endpoint);
      expect(idsOf(endpoint)).toEqual([id]);
    });

    it('is sent nothing while it is disabled again, and nothing of erased users', async () => {
      const user = await webhooks.consentedUser(client);
      const endpoint = await webhooks.endpoint(client);
      await turn(endpoint, false);
      await publish(user.id);
      await turn(endpoint, true);
      const page = await openPage(pathOf(endpoint));
      await turn(endpoint, false);
      expect((await sendMissed(endpoint, page)).status).toBe(409);
      await turn(endpoint, true);
      await service.http.send(`/admin/users/${user.id}`, { method: 'DELETE', bearer: webhooks.bearer });
      const answer = await sendMissed(endpoint);
      expect(wordsOf(await openPage(answer.headers.get('location')!))).toContain('0 deliveries of events');
    });

    it("is 404 for another client's session", async () => {
      const mine = await webhooks.endpoint(client);
      const others = await webhooks.endpoint(await service.make.client());
      for (const each of [mine, others]) {
        await turn(each, false);
        await turn(each, true);
      }
      const page = await openPage(pathOf(mine));
      page.html.querySelectorAll('form').forEach((form) => {
        if (form.getAttribute('action') === `${pathOf(mine)}/missed`)
          form.setAttribute('action', `${pathOf(others)}/missed`);
      });
      expect((await submit(page, `${pathOf(others)}/missed`)).status).toBe(404);
      const open = await query('SELECT 1 FROM webhook_pauses WHERE endpoint_id = $1 AND sent_at IS NULL', [
        others.id,
      ]);
      expect(open).toHaveLength(1);
    });
  });
});
