import { setTimeout as pause } from 'node:timers/promises';
import { EventFeedRepository } from '#events/webhooks/feed/event-feed.repository.js';
import { idsOf, nextOf, session, setUpEventFeed } from '../support/event-feed.js';
import { HeldTimers } from '../support/held-timers.js';
import { connectionTo } from '../support/test-database.js';
import { startInstance, type TestInstance, until, WEBHOOK_ENV } from '../support/spec.js';

describe('GET /v2/events with wait', () => {
  const { service, client, own, get, publish, readAll, untilShown } = setUpEventFeed();
  let nowhere: string;
  beforeEach(async () => {
    await until('the consent is shown', async () => (await readAll()).length === 1);
    nowhere = nextOf(await get('?after=latest'));
  });
  let clock: HeldTimers;
  beforeEach(() => {
    // The waits of up to 20 s, however long it took to get there; not the look once a second.
    clock = HeldTimers.hold(1_001, 20_000, 'feed-waits.service');
  });
  afterEach(() => clock.release());
  const untilItWaits = () => until('it waits', () => clock.count === 1);
  const waiting = (instance: TestInstance = service) => get(`${nowhere}&wait=20`, instance);

  it('answers with an event that another instance accepts meanwhile, without holding a connection', async () => {
    const answers = Array.from({ length: 15 }, () => waiting(service.instances[1]));
    await until('all wait', () => clock.count >= 15);
    // More than there are connections: the pool has ten.
    expect((await get('', service.instances[1])).status).toBe(200);
    const id = await publish(session('awaited'));
    for (const answer of await Promise.all(answers)) expect(idsOf(answer)).toEqual([id]);
  });

  it('does not wait if there is something', async () => {
    const id = await publish(session('there'));
    await untilShown(id);
    expect(idsOf(await waiting())).toEqual([id]);
    expect(clock.count).toBe(0);
  });

  it('answers with nothing when the time is over, and counts once', async () => {
    const before = Number((await get()).headers.get('x-ratelimit-remaining'));
    const answer = waiting();
    await untilItWaits();
    // An event of someone else does not end it.
    const stranger = await service.make.user();
    await publish(session('foreign'), stranger);
    let isAnswered = false;
    void answer.then(() => (isAnswered = true));
    await until('it is answered', () => {
      // A first look wakes everybody once; whoever has nothing then waits again.
      clock.letPass();
      return isAnswered;
    });
    const { status, json, headers } = await answer;
    expect([status, json, Number(headers.get('x-ratelimit-remaining'))]).toEqual([200, [], before - 1]);
    expect(nextOf(await answer)).toContain('wait=20');
  });

  it('shows an event that an open transaction held up, when that ends', async () => {
    const holding = await connectionTo(service);
    await holding.query('BEGIN');
    await holding.query('SELECT pg_current_xact_id()');
    const answer = waiting();
    await untilItWaits();
    const id = await publish(session('held-up'));
    await holding.query('COMMIT');
    expect(idsOf(await answer)).toEqual([id]);
    await holding.end();
  });

  it('is refused when the token ends meanwhile', async () => {
    const answer = waiting();
    await untilItWaits();
    await service.make.updateClient(client, { enabled: false });
    let status: number | undefined;
    void answer.then((refused) => (status = refused.status));
    // What woke it in the meantime lets it wait again.
    await until('it is answered', () => {
      clock.letPass();
      return status !== undefined;
    });
    expect(status).toBe(401);
  });

  it('ends when the client goes away', async () => {
    const leaving = new AbortController();
    const left = fetch(`${service.url}/v2/events${nowhere}&wait=20`, {
      headers: { authorization: `Bearer ${own.bearer}` },
      signal: leaving.signal,
    }).catch(() => undefined);
    await untilItWaits();
    leaving.abort();
    await left;
    await until('nothing waits', () => clock.count === 0);
  });

  it('ends at once when the instance stops; one that begins then takes a second, without another look, and ends with the port', async () => {
    const instance = await startInstance(service.database, { ...WEBHOOK_ENV, BASE_URL: service.url });
    const early = waiting(instance);
    await untilItWaits();
    const port = HeldTimers.hold(3_000, 3_000, 'request-hooks');
    // A load balancer watches, so the port stays open for a while.
    const isReady = () => instance.http.get('/health/ready');
    for (let n = 0; n < 7; n++) {
      await isReady();
      await pause(100);
    }
    const closed = instance.app.close();
    expect([(await early).status, (await early).json, nextOf(await early)]).toEqual([
      200,
      [],
      expect.stringContaining('wait=20'),
    ]);
    clock.release();
    clock = HeldTimers.hold(1_000, 1_000, 'feed-waits.service');
    const repository = instance.app.get(EventFeedRepository, { strict: false });
    const looks = [jest.spyOn(repository, 'look'), jest.spyOn(repository, 'newsFor')];
    await until('it stops', async () => {
      await isReady();
      return port.count === 1;
    });
    const first = waiting(instance);
    await untilItWaits();
    clock.letPass();
    const { status, json } = await first;
    expect([status, json]).toEqual([200, []]);
    expect(nextOf(await first)).toContain('wait=20');
    expect(looks.map(({ mock }) => mock.calls.length)).toEqual([1, 0]);
    // Nothing lets this one pass but the end of the port.
    const last = waiting(instance);
    await until('the next waits too', () => clock.count === 1);
    port.letPass();
    await closed;
    expect((await last).json).toEqual([]);
    port.release();
  });
});
