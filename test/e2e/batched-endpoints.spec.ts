import { importJWK, type CryptoKey, type JWK } from 'jose';
import { webcrypto } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { enterPortal, madeForEach, madeOnce, until, useSharedService, wordsOf } from '../support/spec.js';
import { errorAt } from '../support/portal.js';
import { Receiver, type ReceivedRequest } from '../support/receiver.js';
import { TYPE, WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';

interface Event {
  id: string;
  type: string;
  user_id: string;
  data: { n: number; filler?: string };
}
/** The tests say when it is over. */
const WAIT_MS = 5000;

/* Contract §22: an endpoint with `batch` gets several events in one request. */
describe('An endpoint with batches', () => {
  const service = useSharedService({ env: { ...WEBHOOK_ENV, WEBHOOK_RETRY_SCHEDULE_SECONDS: '3600,3600' } });
  type Reply =
    | number
    | ((events: Event[]) => [status: number, body: string, headers?: Record<string, string>]);
  let reply: Reply = 204;
  const receiver = Receiver.setUp((response, { body }) => {
    const [status, text = '', headers = {}] =
      typeof reply === 'number' ? [reply] : reply((JSON.parse(body) as { data: Event[] }).data);
    response.writeHead(status, headers).end(text);
  });
  const webhooks = madeOnce(() => Webhooks.start(service));
  const client = madeForEach(() => service.make.client());
  const [anna, ben] = [
    madeForEach(() => webhooks.consentedUser(client)),
    madeForEach(() => webhooks.consentedUser(client)),
  ];
  let path: string;
  let paths = 0;
  let secret: string;

  beforeEach(() => {
    reply = 204;
    path = `/${++paths}`;
  });

  const query = <T>(sql: string, params: unknown[] = []) => service.database.query<T>(sql, params);
  async function add(json: object = {}): Promise<string> {
    const batch = { max: 100, wait_ms: WAIT_MS };
    const answer = await webhooks.add(client, {
      ...{ url: receiver.url(path), batch, max_per_minute: 6000 },
      ...json,
    });
    expect([answer.status, answer.json.field_errors]).toEqual([201, undefined]);
    secret = answer.json.secret as string;
    return answer.json.id as string;
  }
  const publish = async (userId: string, n: number, more: object = {}): Promise<string> => {
    const answer = await webhooks.publish(userId, { type: TYPE, data: { n, ...more } });
    expect(answer.status).toBe(202);
    return answer.json.id as string;
  };
  const publishAll = async (userId: string, ...numbers: number[]): Promise<string[]> => {
    const ids: string[] = [];
    for (const n of numbers) ids.push(await publish(userId, n));
    return ids;
  };
  /** Nothing is sent to the endpoints, however long publishing takes. */
  const hold = (until = 'infinity') =>
    query(
      'UPDATE webhook_throttles SET blocked_until = $2 FROM webhook_endpoints e WHERE e.id = endpoint_id AND e.client_id = $1',
      [client.id, until],
    );
  /** As if what waits for more had waited long enough. What is ordered also waits for older transactions, those of other test files too. */
  const waited = async () => {
    await until('no older transaction runs', async () => {
      const [row] = await query<{ is_over: boolean }>(
        'SELECT NOT EXISTS (SELECT 1 FROM events WHERE xid >= pg_snapshot_xmin(pg_current_snapshot())) AS is_over',
      );
      return row!.is_over;
    });
    await query(
      "UPDATE deliveries SET created_at = created_at - interval '5 seconds' WHERE client_id = $1 AND state = 'pending'",
      [client.id],
    );
    await hold('-infinity');
  };
  const requests = (): ReceivedRequest[] => receiver.requests.filter(({ url }) => url === path);
  const eventsIn = ({ body }: ReceivedRequest) => (JSON.parse(body) as { data: Event[] }).data;
  const arrived = () => requests().map((request) => eventsIn(request).map(({ data }) => data.n));
  const untilRequests = (n: number) => until(`${n} requests`, () => requests().length >= n);
  const admin = (method: string, at: string) =>
    service.http.send(`/admin/${at}`, { method, bearer: webhooks.bearer });
  interface Row {
    id: string;
    event_id: string;
    state: string;
    attempts: number;
    status: number | null;
    failure: string | null;
    batch_id: string | null;
    response_start: string | null;
    wait: number | null;
  }
  const rows = () =>
    query<Row>(
      `SELECT d.id, d.event_id, d.state, d.attempts, a.status, a.failure, a.batch_id, a.response_start,
              extract(epoch FROM d.next_attempt_at - now())::float8 AS wait
         FROM deliveries d LEFT JOIN delivery_attempts a ON a.delivery_id = d.id AND a.number = d.attempts
         JOIN events v ON v.id = d.event_id
        WHERE d.client_id = $1 ORDER BY v.xid, v.id`,
      [client.id],
    );
  const untilAttempted = (attempts: number) =>
    until('all were attempted', async () => {
      const found = await rows();
      return found.length > 0 && found.every((row) => row.attempts >= attempts);
    });
  const states = async () => (await rows()).map(({ state }) => state);
  const beginNext = () =>
    query(
      "UPDATE deliveries SET next_attempt_at = now(), due_at = now() WHERE client_id = $1 AND state = 'pending' AND NOT behind",
      [client.id],
    );

  it('has none by default, and refuses what is no batch, in new ones and in changes', async () => {
    const plain = await webhooks.add(client, { url: receiver.url(path) });
    expect(plain.json.batch).toBeNull();
    const wrong: [unknown, string[]][] = [
      [5, ['batch']],
      [[], ['batch']],
      [{}, ['batch.max', 'batch.wait_ms']],
      [{ max: 10 }, ['batch.wait_ms']],
      [{ max: 0, wait_ms: 0 }, ['batch.max']],
      [{ max: 101, wait_ms: 5001 }, ['batch.max', 'batch.wait_ms']],
      [{ max: '10', wait_ms: 1.5 }, ['batch.max', 'batch.wait_ms']],
      [{ max: 10, wait_ms: -1, size: 3 }, ['batch.size', 'batch.wait_ms']],
    ];
    for (const [batch, members] of wrong) {
      for (const answer of [
        await webhooks.add(client, { batch }),
        await webhooks.change(plain.json.id as string, { batch }),
      ]) {
        expect([answer.status, Object.keys(answer.json.field_errors as object).sort()]).toEqual([
          400,
          members,
        ]);
      }
    }
    const changed = await webhooks.change(plain.json.id as string, { batch: { max: 2, wait_ms: 0 } });
    expect(changed.json.batch).toEqual({ max: 2, wait_ms: 0 });
    expect((await webhooks.change(plain.json.id as string, { batch: null })).json.batch).toBeNull();
  });

  it('gets what is published while it waits in one signed request, each event as it would be sent alone', async () => {
    await add();
    const alone = await webhooks.add(client, { url: receiver.url(`${path}-alone`) });
    await hold();
    const ids = [...(await publishAll(anna.id, 1, 2)), ...(await publishAll(ben.id, 3))];
    await waited();
    await untilRequests(1);
    const [{ body, headers }] = requests() as [ReceivedRequest];
    await until('they have arrived alone', () => {
      const single = receiver.requests.filter(({ url }) => url === `${path}-alone`);
      return single.length === 3;
    });
    const bodies = new Map(
      receiver.requests
        .filter(({ url }) => url === `${path}-alone`)
        .map((each) => [(JSON.parse(each.body) as Event).id, each.body]),
    );
    expect(alone.status).toBe(201);
    expect(body).toBe(`{"type":"batch","data":[${ids.map((id) => bodies.get(id)).join(',')}]}`);
    expect(headers['webhook-event-type']).toBe('batch');
    expect(headers['webhook-event-version']).toBe('1,1,1');
    expect(headers['webhook-id']).toMatch(/^batch_[0-9a-f]{32}$/);
    // A library of others.
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
      type: 'batch',
    });
    await untilAttempted(1);
    expect(requests()).toHaveLength(1);
    expect(new Set((await rows()).filter((row) => row.batch_id).map((row) => row.batch_id)).size).toBe(1);
  });

  it('gets a full batch, and the rest when it has waited', async () => {
    await add({ batch: { max: 2, wait_ms: WAIT_MS } });
    await publishAll(anna.id, 1, 2, 3);
    await untilRequests(1);
    expect(arrived()).toEqual([[1, 2]]);
    await waited();
    await untilRequests(2);
    expect(arrived()).toEqual([[1, 2], [3]]);
  });

  it('gets at most 256 kB in a request', async () => {
    const id = await add({ enabled: false });
    const filler = 'x'.repeat(60_000);
    for (let n = 1; n <= 5; n++) await publish(anna.id, n, { filler });
    await webhooks.change(id, { enabled: true });
    const browser = await enterPortal(service, client);
    await browser.submit(await browser.open(`/portal/endpoints/${id}`), `/portal/endpoints/${id}/missed`);
    await untilRequests(1);
    await waited();
    await untilRequests(2);
    expect(arrived()).toEqual([[1, 2, 3, 4], [5]]);
    for (const { body } of requests()) expect(Buffer.byteLength(body)).toBeLessThanOrEqual(262_144);
  });

  it('fails as a whole by 500, and is repeated as a whole with the same id', async () => {
    await add();
    reply = 500;
    await hold();
    await publishAll(anna.id, 1, 2);
    await waited();
    await untilAttempted(1);
    const failed = await rows();
    expect(failed.map(({ state, status }) => [state, status])).toEqual(Array(2).fill(['pending', 500]));
    expect(failed[0]!.wait).toBe(failed[1]!.wait);
    reply = 204;
    await beginNext();
    await untilRequests(2);
    expect(arrived()).toEqual([
      [1, 2],
      [1, 2],
    ]);
    const [first, second] = requests().map(({ headers }) => headers['webhook-id']);
    expect(second).toBe(first);
    await untilAttempted(2);
    expect(await states()).toEqual(['delivered', 'delivered']);
    // One request stands for all of it in the numbers of the endpoint.
    const [numbers] = await query(
      `SELECT e.recent_results AS results, h.delivered, h.failed FROM webhook_endpoints e
         JOIN (SELECT endpoint_id, sum(delivered)::int AS delivered, sum(failed)::int AS failed FROM webhook_endpoint_hours GROUP BY 1) h
           ON h.endpoint_id = e.id WHERE e.client_id = $1`,
      [client.id],
    );
    expect(numbers).toEqual({ results: 'x.', delivered: 1, failed: 1 });
  });

  it('is asked to wait by Retry-After, for all', async () => {
    await add();
    reply = () => [429, '', { 'retry-after': '7200' }];
    await hold();
    await publishAll(anna.id, 1, 2);
    await waited();
    await untilAttempted(1);
    for (const { wait } of await rows()) expect(wait).toBeGreaterThan(7000);
  });

  it('is disabled by 410, and nothing of the batch is sent again', async () => {
    const id = await add();
    reply = 410;
    await hold();
    await publishAll(anna.id, 1, 2);
    await waited();
    await untilAttempted(1);
    expect(await states()).toEqual(['failed', 'failed']);
    await until('it is disabled', async () => {
      const { json } = await admin('GET', `webhook_endpoints/${id}`);
      return json.disabled_reason === 'gone';
    });
  });

  it('acknowledges by 207 what is not in its list', async () => {
    await add();
    reply = (events) => [207, JSON.stringify({ failed: [events[1]!.id], more: true })];
    await hold();
    await publishAll(anna.id, 1, 2, 3);
    await waited();
    await untilAttempted(1);
    expect((await rows()).map(({ state, status, failure }) => [state, status, failure])).toEqual([
      ['delivered', 207, null],
      ['pending', null, 'not_acknowledged'],
      ['delivered', 207, null],
    ]);
    reply = () => [207, '{"failed":[]}'];
    await beginNext();
    await untilRequests(2);
    await until('it is delivered', async () => (await states()).every((state) => state === 'delivered'));
    expect(arrived()[1]).toEqual([2]);
  });

  it.each([
    ['no JSON', 'ok'],
    ['no object', '[]'],
    ['nothing', ''],
    ['null', 'null'],
    ['no list', '{"failed":true}'],
    ['numbers', '{"failed":[1]}'],
    ['an id of no event in it', '{"failed":["evnt01HN2NJ9NMRZBXT1H6FT9N7735"]}'],
  ])('acknowledges nothing by a 207 with %s', async (_what, body) => {
    await add({ batch: { max: 2, wait_ms: 5000 } });
    reply = () => [207, body];
    await hold();
    await publishAll(anna.id, 1, 2);
    await waited();
    await untilAttempted(1);
    expect((await rows()).map(({ state, failure }) => [state, failure])).toEqual(
      Array(2).fill(['pending', 'not_acknowledged']),
    );
  });

  it('takes 207 for an acknowledgement without batches, as before', async () => {
    await add({ batch: null });
    reply = 207;
    await hold();
    await publish(anna.id, 1);
    await waited();
    await untilAttempted(1);
    expect(await states()).toEqual(['delivered']);
    expect(requests()[0]!.headers['webhook-id']).toMatch(/^dlvr/);
  });

  describe('that is ordered', () => {
    it('gets a user’s events in order, several in a batch, and the rest after them', async () => {
      await add({ ordered: true, batch: { max: 3, wait_ms: WAIT_MS } });
      await hold();
      await publishAll(anna.id, 1, 2, 3, 4, 5);
      await waited();
      await until('all are delivered', async () =>
        (await states()).every((state, _n, all) => all.length === 5 && state === 'delivered'),
      );
      expect(arrived().flat()).toEqual([1, 2, 3, 4, 5]);
      expect(arrived()[0]).toEqual([1, 2, 3]);
      expect(requests().map(({ headers }) => headers['webhook-sequence-gap'])).toEqual(
        requests().map(() => undefined),
      );
    });

    it('holds back by 207 what comes after a failed one of its user, not what others have', async () => {
      await add({ ordered: true });
      reply = (events) => [
        207,
        JSON.stringify({ failed: events.filter(({ data }) => data.n === 2).map(({ id }) => id) }),
      ];
      await hold();
      await publishAll(anna.id, 1, 2, 3);
      await publishAll(ben.id, 4);
      await waited();
      await untilAttempted(1);
      expect(await states()).toEqual(['delivered', 'pending', 'pending', 'delivered']);
      await hold();
      const later = await publish(anna.id, 5);
      await waited();
      await until('it waits', async () => {
        const { json } = await admin('GET', `deliveries?client_id=${client.id}`);
        return (json as { event_id: string; waits_for_earlier_event: boolean }[]).some(
          (each) => each.event_id === later && each.waits_for_earlier_event,
        );
      });
      reply = 204;
      await beginNext();
      await until('all are delivered', async () => (await states()).every((state) => state === 'delivered'));
      expect(arrived()).toEqual([[1, 2, 3, 4], [2, 3], [5]]);
    });

    it('says for each event of a batch how many before it were not delivered', async () => {
      await add({ ordered: true });
      reply = 500;
      await hold();
      await publishAll(anna.id, 1);
      await waited();
      await untilAttempted(1);
      await query('UPDATE deliveries SET retries = 2 WHERE client_id = $1', [client.id]);
      await beginNext();
      await untilAttempted(2);
      expect(await states()).toEqual(['failed']);
      reply = 204;
      await hold();
      await publishAll(anna.id, 2, 3);
      await publishAll(ben.id, 4);
      await waited();
      await untilRequests(3);
      expect(arrived()[2]).toEqual([2, 3, 4]);
      expect(requests()[2]!.headers['webhook-sequence-gap']).toBe('1,0,0');
    });
  });

  it('gets only what passes its filters, also when it is ordered', async () => {
    await add({ ordered: true, filters: [{ path: 'data.power_kw', operator: 'at_least', value: 2 }] });
    await hold();
    for (const n of [1, 2, 3]) await publish(anna.id, n, { power_kw: n });
    await waited();
    await untilRequests(1);
    expect(arrived()).toEqual([[2, 3]]);
    expect(requests()[0]!.headers['webhook-sequence-gap']).toBeUndefined();
  });

  it('has nothing in it that is no longer consented to', async () => {
    const id = await add();
    await hold();
    await publishAll(anna.id, 1);
    await publishAll(ben.id, 2);
    await service.make.revokeConsent(client, anna);
    await waited();
    await untilRequests(1);
    expect(arrived()).toEqual([[2]]);
    await until('the other is cancelled', async () => (await states()).includes('cancelled'));
    expect(id).toMatch(/^endp/);
  });

  it('forgets with an erased user what it answered to their batch, and what they were sent', async () => {
    await add({ batch: { max: 2, wait_ms: WAIT_MS } });
    reply = () => [500, 'unknown person Anna'];
    await hold();
    await publishAll(anna.id, 1);
    await publishAll(ben.id, 2);
    await hold('-infinity');
    await untilAttempted(1);
    expect(arrived()).toEqual([[1, 2]]);
    expect((await rows()).map((row) => row.response_start)).toEqual(Array(2).fill('unknown person Anna'));
    expect((await admin('DELETE', `users/${anna.id}`)).status).toBe(204);
    const [left] = (await rows()).filter(({ state }) => state === 'pending');
    expect(left!.response_start).toBeNull();
    reply = 204;
    await beginNext();
    await untilRequests(2);
    expect(arrived()[1]).toEqual([2]);
  });

  it('keeps no answer to a batch whose user is erased while it is under way', async () => {
    await add();
    let answer = () => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    const slow = await Receiver.start((response) => {
      void held.then(() => response.writeHead(500).end('unknown person Anna'));
    });
    const [endpoint] = await query<{ id: string }>('SELECT id FROM webhook_endpoints WHERE client_id = $1', [
      client.id,
    ]);
    await webhooks.change(endpoint!.id, { url: slow.url('/') });
    await hold();
    await publishAll(anna.id, 1);
    await publishAll(ben.id, 2);
    await waited();
    await until('it is under way', () => slow.requests.length === 1);
    expect(eventsIn(slow.requests[0]!)).toHaveLength(2);
    expect((await admin('DELETE', `users/${anna.id}`)).status).toBe(204);
    answer();
    await untilAttempted(1);
    expect((await rows()).map((row) => [row.status, row.response_start])).toEqual(Array(2).fill([500, null]));
    await slow.stop();
  });

  it('counts a batch as one attempt under a throttle', async () => {
    await add({ max_per_minute: 2, batch: { max: 2, wait_ms: WAIT_MS } });
    await hold();
    await publishAll(anna.id, 1, 2, 3, 4, 5, 6);
    await waited();
    await untilRequests(2);
    const [row] = await query<{ starts: string }>(
      `SELECT (SELECT sum(n) FROM unnest(start_counts) n) AS starts FROM webhook_throttles s
         JOIN webhook_endpoints e ON e.id = s.endpoint_id WHERE e.client_id = $1`,
      [client.id],
    );
    expect(Number(row!.starts)).toBe(2);
    expect(requests()).toHaveLength(2);
  });

  it('resends one of a batch as a batch of one, and a test as well', async () => {
    const id = await add();
    await hold();
    await publishAll(anna.id, 1, 2);
    await waited();
    await untilAttempted(1);
    const [first] = await rows();
    expect((await admin('POST', `deliveries/${first!.id}/resend`)).status).toBe(202);
    await untilRequests(2);
    expect(arrived()[1]).toEqual([1]);
    expect(requests()[1]!.headers['webhook-id']).not.toBe(requests()[0]!.headers['webhook-id']);
    const browser = await enterPortal(service, client);
    await browser.fillIn(`/portal/endpoints/${id}/test`, { type: TYPE });
    await untilRequests(3);
    expect(eventsIn(requests()[2]!)).toHaveLength(1);
  });

  it('is signed as a whole by the key of the client, beside the secret', async () => {
    await add({ signature_versions: ['v1', 'v1a'] });
    await hold();
    await publishAll(anna.id, 1, 2);
    await waited();
    await untilRequests(1);
    const { headers, body } = requests()[0]!;
    expect(() => new Webhook(secret).verify(body, headers as Record<string, string>)).not.toThrow();
    const { json } = await service.http.get(`/.well-known/webhooks/${client.id}/jwks.json`);
    const key = (await importJWK((json.keys as JWK[])[0]!, 'EdDSA')) as CryptoKey;
    const [, signature = ''] = /v1a,(\S+)/.exec(String(headers['webhook-signature'])) ?? [];
    const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
    const isRight = webcrypto.subtle.verify(
      'Ed25519',
      key,
      Buffer.from(signature, 'base64'),
      Buffer.from(content),
    );
    expect(await isRight).toBe(true);
  });

  it('is chosen in the form of the portal, where bad values stand at their fields', async () => {
    const id = await add({ batch: null });
    const browser = await enterPortal(service, client);
    const edit = `/portal/endpoints/${id}/edit`;
    const refused = await browser.fillIn(edit, { 'batch.max': '', 'batch.wait_ms': '5001' });
    expect([refused.status, errorAt(refused, 'batch-max'), errorAt(refused, 'batch-wait')]).toEqual([
      400,
      'Batch size must be a whole number from 1 to 100.',
      'Batch wait must be a whole number from 0 to 5000.',
    ]);
    const saved = async () => (await admin('GET', `webhook_endpoints/${id}`)).json.batch;
    expect(await saved()).toBeNull();
    await browser.fillIn(edit, { 'batch.max': ' 20 ' });
    expect(await saved()).toEqual({ max: 20, wait_ms: 0 });
    // Another field of the form leaves it as it is.
    await browser.fillIn(edit, { description: 'In batches' });
    expect(await saved()).toEqual({ max: 20, wait_ms: 0 });
    await browser.fillIn(edit, { 'batch.max': '', 'batch.wait_ms': '' });
    expect(await saved()).toBeNull();
  });

  it('shows on the pages and in the admin API what was in the batch', async () => {
    const id = await add();
    reply = (events) => [207, JSON.stringify({ failed: [events[1]!.id] })];
    await hold();
    await publishAll(anna.id, 1, 2);
    await waited();
    await untilAttempted(1);
    const [first, second] = await rows();
    const { json } = await admin('GET', `deliveries/${first!.id}`);
    expect((json.attempts as { batch: object }[])[0]!.batch).toEqual({
      id: first!.batch_id,
      delivery_ids: [first!.id, second!.id],
    });
    const browser = await enterPortal(service, client);
    const page = await browser.open(`/portal/deliveries/${second!.id}`);
    expect(wordsOf(page)).toContain('Not acknowledged (207)');
    expect(wordsOf(page)).toContain('In a batch of 2 events');
    expect(page.text).toContain(`href="/portal/deliveries/${first!.id}"`);
    expect(page.text).toContain('webhook-event-type: batch');
    expect(page.text).not.toContain('Copy as curl');
    expect(wordsOf(await browser.open(`/portal/endpoints/${id}`))).toContain('Up to 100 events in a request');
  });
});
