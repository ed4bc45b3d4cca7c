import { DisclosureHistoryService } from '#events/disclosures/disclosure-history.service.js';
import { until } from '../support/spec.js';
import { useBatchedEndpoints, WAIT_MS } from '../support/batched-endpoints.js';
import { Receiver } from '../support/receiver.js';

/* Contract §22: what the answer to a batch means for each of its events, and who may still be named in it. */
describe('The answer to a batch', () => {
  const {
    own,
    service,
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

  it('fails as a whole by 500, and is repeated as a whole with the same id', async () => {
    await add();
    own.reply = 500;
    await hold();
    await publishAll(anna.id, 1, 2);
    await waited();
    await untilAttempted(1);
    const failed = await rows();
    expect(failed.map(({ state, status }) => [state, status])).toEqual(Array(2).fill(['pending', 500]));
    expect(failed[0]!.wait).toBe(failed[1]!.wait);
    own.reply = 204;
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
    own.reply = () => [429, '', { 'retry-after': '7200' }];
    await hold();
    await publishAll(anna.id, 1, 2);
    await waited();
    await untilAttempted(1);
    for (const { wait } of await rows()) expect(wait).toBeGreaterThan(7000);
  });

  it('is disabled by 410, and nothing of the batch is sent again', async () => {
    const id = await add();
    own.reply = 410;
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
    own.reply = (events) => [207, JSON.stringify({ failed: [events[1]!.id], more: true })];
    await hold();
    await publishAll(anna.id, 1, 2, 3);
    await waited();
    await untilAttempted(1);
    expect((await rows()).map(({ state, status, failure }) => [state, status, failure])).toEqual([
      ['delivered', 207, null],
      ['pending', null, 'not_acknowledged'],
      ['delivered', 207, null],
    ]);
    own.reply = () => [207, '{"failed":[]}'];
    await beginNext();
    await untilRequests(2);
    await until('it is delivered', async () => (await states()).every((state) => state === 'delivered'));
    expect(arrived()[1]).toEqual([2]);
  });

  it('counts as sent to the user what was acknowledged, each event once, whoever else was in its batch', async () => {
    await add();
    own.reply = (events) => [207, JSON.stringify({ failed: [events[1]!.id] })];
    const sent = async (userId: string) =>
      (await service.app.get(DisclosureHistoryService).of(userId, client.id)).kinds.map(
        ({ scope, deliveries }) => [scope, deliveries],
      );
    await hold();
    await publishAll(anna.id, 1, 2, 3);
    await publishAll(ben.id, 4);
    await waited();
    await untilAttempted(1);
    expect([await sent(anna.id), await sent(ben.id)]).toEqual([
      [['charging_session:read', 2]],
      [['charging_session:read', 1]],
    ]);
    own.reply = 204;
    await beginNext();
    await untilRequests(2);
    await until('it is delivered', async () => (await states()).every((state) => state === 'delivered'));
    expect([await sent(anna.id), await sent(ben.id)]).toEqual([
      [['charging_session:read', 3]],
      [['charging_session:read', 1]],
    ]);
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
    own.reply = () => [207, body];
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
    own.reply = 207;
    await hold();
    await publish(anna.id, 1);
    await waited();
    await untilAttempted(1);
    expect(await states()).toEqual(['delivered']);
    expect(requests()[0]!.headers['webhook-id']).toMatch(/^dlvr/);
  });

  it('holds back by 207 what comes after a failed one of its user if it is ordered, not what others have', async () => {
    await add({ ordered: true });
    own.reply = (events) => [
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
    own.reply = 204;
    await beginNext();
    await until('all are delivered', async () => (await states()).every((state) => state === 'delivered'));
    expect(arrived()).toEqual([[1, 2, 3, 4], [2, 3], [5]]);
  });

  it('forgets with an erased user what it answered to their batch, and what they were sent', async () => {
    await add({ batch: { max: 2, wait_ms: WAIT_MS } });
    own.reply = () => [500, 'unknown person Anna'];
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
    own.reply = 204;
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
});
