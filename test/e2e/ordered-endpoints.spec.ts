import { enterPortal, madeForEach, madeOnce, until, useSharedService, wordsOf } from '../support/spec.js';
import { Receiver, type ReceivedRequest } from '../support/receiver.js';
import { TYPE, WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';

/* Contract §22: an endpoint with `ordered` gets the events of one user one after the other. */
describe('An ordered endpoint', () => {
  const service = useSharedService({ env: { ...WEBHOOK_ENV, WEBHOOK_RETRY_SCHEDULE_SECONDS: '3600' } });
  /** What it refuses: by the number in the data of the event. */
  const refused = new Set<number>();
  const receiver = Receiver.setUp((response, { body }) => {
    response.writeHead(refused.has(numberIn(body)) ? 500 : 204).end();
  });
  const webhooks = madeOnce(() => Webhooks.start(service));
  const client = madeForEach(() => service.make.client());
  const [anna, ben] = [
    madeForEach(() => webhooks.consentedUser(client)),
    madeForEach(() => webhooks.consentedUser(client)),
  ];
  let path: string;
  let paths = 0;

  beforeEach(() => {
    refused.clear();
    path = `/${++paths}`;
  });

  const numberIn = (body: string) => (JSON.parse(body) as { data: { n?: number } }).data.n ?? 0;
  const query = <T>(sql: string, params: unknown[] = []) => service.database.query<T>(sql, params);
  async function add(json: object = {}): Promise<string> {
    const answer = await webhooks.add(client, { url: receiver.url(path), ordered: true, ...json });
    expect([answer.status, answer.json.field_errors]).toEqual([201, undefined]);
    return answer.json.id as string;
  }
  const publish = async (userId: string, n: number): Promise<string> => {
    const answer = await webhooks.publish(userId, { type: TYPE, data: { n } });
    expect(answer.status).toBe(202);
    return answer.json.id as string;
  };
  const arrivedAt = (): ReceivedRequest[] => receiver.requests.filter(({ url }) => url === path);
  const arrived = () => arrivedAt().map(({ body }) => numberIn(body));
  const untilArrived = (...numbers: number[]) =>
    until(`${numbers.join()} have arrived`, () => numbers.every((n) => arrived().includes(n)));
  const gapOf = (n: number) =>
    arrivedAt().findLast(({ body }) => numberIn(body) === n)!.headers['webhook-sequence-gap'];
  const admin = (method: string, at: string) =>
    service.http.send(`/admin/${at}`, { method, bearer: webhooks.bearer });
  const deliveriesOf = async (eventId: string) => {
    const { json } = await admin('GET', `deliveries?client_id=${client.id}`);
    return (json as Record<string, unknown>[]).filter(({ event_id: id }) => id === eventId);
  };
  const deliveryOf = async (eventId: string) => (await deliveriesOf(eventId))[0]!;
  const untilBehind = (eventId: string) =>
    until('it was put off', async () => (await deliveryOf(eventId)).waits_for_earlier_event === true);
  const untilState = (eventId: string, state: string) =>
    until(`it is ${state}`, async () => (await deliveryOf(eventId)).state === state);
  /** The next attempt is due, and it is the last one. */
  const beginLast = (eventId: string) =>
    query('UPDATE deliveries SET retries = 1, next_attempt_at = now(), due_at = now() WHERE event_id = $1', [
      eventId,
    ]);

  /** The first event of Anna fails and waits for its retry, the second one waits for it. */
  async function holdUp(): Promise<[first: string, second: string]> {
    refused.add(1);
    const first = await publish(anna.id, 1);
    await until('its attempts have ended', async () =>
      (await deliveriesOf(first)).every(({ attempt_count: count }) => count === 1),
    );
    const second = await publish(anna.id, 2);
    await until('the second one is put off', async () =>
      (await deliveriesOf(second)).some(({ waits_for_earlier_event: waits }) => waits),
    );
    return [first, second];
  }

  it('is false by default, and refuses what is neither true nor false', async () => {
    const plain = await webhooks.add(client, { url: receiver.url(path) });
    expect(plain.json.ordered).toBe(false);
    const wrong = await webhooks.add(client, { url: receiver.url(path), ordered: 'yes' });
    expect([wrong.status, Object.keys(wrong.json.field_errors as object)]).toEqual([400, ['ordered']]);
  });

  it('holds back the later events of the user whose event fails, not those of others, nor other endpoints', async () => {
    await add();
    const other = await webhooks.add(client, { url: receiver.url(`${path}-other`) });
    const [, second] = await holdUp();
    await publish(ben.id, 3);
    await untilArrived(3);
    expect(arrived()).toEqual([1, 3]);
    const here = await deliveriesOf(second);
    const byEndpoint = new Map(here.map((each) => [each.endpoint_id, each]));
    expect(byEndpoint.size).toBe(2);
    await until('the other endpoint has it', () =>
      receiver.requests.some(({ url, body }) => url === `${path}-other` && numberIn(body) === 2),
    );
    expect(byEndpoint.get(other.json.id as string)!.waits_for_earlier_event).toBe(false);
  });

  it('goes on after the last retry, and says so once', async () => {
    await add();
    const [first] = await holdUp();
    await beginLast(first);
    await untilArrived(2);
    await publish(anna.id, 3);
    await untilArrived(3);
    expect(arrived()).toEqual([1, 1, 2, 3]);
    expect([gapOf(1), gapOf(2), gapOf(3)]).toEqual([undefined, '1', undefined]);
  });

  it('shows on the page of a delivery why it waits, and afterwards the header', async () => {
    const id = await add();
    const [first, second] = await holdUp();
    const browser = await enterPortal(service, client);
    const delivery = await deliveryOf(second);
    expect([delivery.state, delivery.next_attempt_at]).toEqual(['pending', null]);
    const page = await browser.open(`/portal/deliveries/${delivery.id as string}`);
    expect(wordsOf(page)).toContain('It waits for an earlier event of this user');
    expect(wordsOf(await browser.open(`/portal/endpoints/${id}`))).toContain(
      'One after the other for each user',
    );
    await beginLast(first);
    await untilState(second, 'delivered');
    const after = await browser.open(`/portal/deliveries/${delivery.id as string}`);
    expect(wordsOf(after)).not.toContain('waits for an earlier event');
    expect(after.text).toContain('webhook-sequence-gap: 1');
  });

  it('goes on when an event is resent and accepted, in the order of the events', async () => {
    await add();
    const [first] = await holdUp();
    refused.clear();
    const { id } = await deliveryOf(first);
    expect((await admin('POST', `deliveries/${id as string}/resend`)).status).toBe(202);
    await untilArrived(2);
    expect(arrived()).toEqual([1, 1, 2]);
    expect(gapOf(2)).toBeUndefined();
  });

  it('goes on when an event is cancelled because its consent ended', async () => {
    await add();
    const [first, second] = await holdUp();
    // The first is about what is no longer shared when its retry is due; the second is due after it.
    await service.make.revokeConsent(client, anna);
    await query('UPDATE deliveries SET next_attempt_at = now(), due_at = now() WHERE event_id = $1', [first]);
    await untilState(first, 'cancelled');
    await untilState(second, 'cancelled');
    expect(arrived()).toEqual([1]);
  });

  it('is not held up by an erased user, whose last event is the end of the consent', async () => {
    await add({ event_types: [TYPE, 'user.consent_revoked'] });
    await holdUp();
    expect((await admin('DELETE', `users/${anna.id}`)).status).toBe(204);
    await until('that is told', () =>
      arrivedAt().some(({ headers }) => headers['webhook-event-type'] === 'user.consent_revoked'),
    );
    const rows = await query<{ state: string; line: string | null }>(
      `SELECT d.state, d.line FROM deliveries d JOIN webhook_endpoints e ON e.id = d.endpoint_id
        WHERE e.client_id = $1 AND d.event_type = $2`,
      [client.id, TYPE],
    );
    expect(rows).toEqual(Array(2).fill({ state: 'cancelled', line: null }));
  });

  it('sends what it missed while it was disabled before what is newer', async () => {
    const id = await add();
    await webhooks.change(id, { enabled: false });
    await publish(anna.id, 1);
    await publish(anna.id, 2);
    await webhooks.change(id, { enabled: true });
    refused.add(1);
    const browser = await enterPortal(service, client);
    const page = await browser.open(`/portal/endpoints/${id}`);
    await browser.submit(page, `/portal/endpoints/${id}/missed`);
    await untilArrived(1);
    const third = await publish(anna.id, 3);
    await untilBehind(third);
    expect(arrived()).toEqual([1]);
    await query(
      "UPDATE deliveries d SET retries = 1, next_attempt_at = now(), due_at = now() WHERE endpoint_id = $1 AND state = 'pending' AND NOT behind",
      [id],
    );
    await untilArrived(3);
    expect(arrived()).toEqual([1, 1, 2, 3]);
    expect([gapOf(2), gapOf(3)]).toEqual(['1', undefined]);
  });

  it('puts in order what waits when it is switched on, and sends what waits when it is switched off', async () => {
    const id = await add({ ordered: false });
    refused.add(1);
    const first = await publish(anna.id, 1);
    await until('the first attempt has ended', async () => (await deliveryOf(first)).attempt_count === 1);
    expect((await webhooks.change(id, { ordered: true })).json.ordered).toBe(true);
    const second = await publish(anna.id, 2);
    await untilBehind(second);
    expect(arrived()).toEqual([1]);
    expect((await webhooks.change(id, { ordered: false })).json.ordered).toBe(false);
    await untilArrived(2);
    expect(gapOf(2)).toBeUndefined();
    expect((await deliveryOf(first)).state).toBe('pending');
  });

  it('is chosen in the portal by a tick, and sends tests at once', async () => {
    const id = await add({ ordered: false });
    const browser = await enterPortal(service, client);
    await browser.fillIn(`/portal/endpoints/${id}/edit`, { ordered: 'true' });
    const [row] = await query<{ ordered: boolean }>('SELECT ordered FROM webhook_endpoints WHERE id = $1', [
      id,
    ]);
    expect(row).toEqual({ ordered: true });
    await holdUp();
    const before = arrivedAt().length;
    void browser.fillIn(`/portal/endpoints/${id}/test`, { type: TYPE });
    await until('the test has arrived', () => arrivedAt().length > before);
  });
});
