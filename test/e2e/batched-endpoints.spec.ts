import { importJWK, type CryptoKey, type JWK } from 'jose';
import { webcrypto } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { enterPortal, until, wordsOf } from '../support/spec.js';
import { useBatchedEndpoints, WAIT_MS, type BatchedEvent } from '../support/batched-endpoints.js';
import { errorAt } from '../support/portal.js';
import type { ReceivedRequest } from '../support/receiver.js';
import { TYPE } from '../support/webhooks.js';

/* Contract §22: an endpoint with `batch` gets several events in one request. */
describe('An endpoint with batches', () => {
  const {
    own,
    service,
    receiver,
    webhooks,
    client,
    anna,
    ben,
    query,
    add,
    publish,
    publishAll,
    hold,
    waited,
    requests,
    eventsIn,
    arrived,
    untilRequests,
    admin,
    rows,
    untilAttempted,
    states,
    beginNext,
  } = useBatchedEndpoints();

  it('has none by default, and refuses what is no batch, in new ones and in changes', async () => {
    const plain = await webhooks.add(client, { url: receiver.url(own.path) });
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
    const alone = await webhooks.add(client, { url: receiver.url(`${own.path}-alone`) });
    await hold();
    const ids = [...(await publishAll(anna.id, 1, 2)), ...(await publishAll(ben.id, 3))];
    await waited();
    await untilRequests(1);
    const [{ body, headers }] = requests() as [ReceivedRequest];
    await until('they have arrived alone', () => {
      const single = receiver.requests.filter(({ url }) => url === `${own.path}-alone`);
      return single.length === 3;
    });
    const bodies = new Map(
      receiver.requests
        .filter(({ url }) => url === `${own.path}-alone`)
        .map((each) => [(JSON.parse(each.body) as BatchedEvent).id, each.body]),
    );
    expect(alone.status).toBe(201);
    expect(body).toBe(`{"type":"batch","data":[${ids.map((id) => bodies.get(id)).join(',')}]}`);
    expect(headers['webhook-event-type']).toBe('batch');
    expect(headers['webhook-event-version']).toBe('1,1,1');
    expect(headers['webhook-id']).toMatch(/^batch_[0-9a-f]{32}$/);
    // A library of others.
    expect(new Webhook(own.secret).verify(body, headers as Record<string, string>)).toMatchObject({
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

    it('says for each event of a batch how many before it were not delivered', async () => {
      await add({ ordered: true });
      own.reply = 500;
      await hold();
      await publishAll(anna.id, 1);
      await waited();
      await untilAttempted(1);
      await query('UPDATE deliveries SET retries = 2 WHERE client_id = $1', [client.id]);
      await beginNext();
      await untilAttempted(2);
      expect(await states()).toEqual(['failed']);
      own.reply = 204;
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
    expect(() => new Webhook(own.secret).verify(body, headers as Record<string, string>)).not.toThrow();
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
    own.reply = (events) => [207, JSON.stringify({ failed: [events[1]!.id] })];
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
