import { RequestLogService } from '#events/partners/request-log/request-log.service.js';
import { STREAMS_PER_CLIENT, STREAMS_PER_SESSION } from '#features/live-sandbox/sandbox-streams.service.js';
import { type BrowserSession, enterPortal, madeForEach, until } from '../support/spec.js';
import { EventStream } from '../support/event-stream.js';
import { endSandboxes, SandboxProgram, type SandboxDriver } from '../support/sandbox.js';
import { startInstance, useSharedService } from '../support/test-service.js';
import { WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';

const PATH = '/portal/sandbox/events';
const TYPES = ['charging_session.created', 'vehicle.updated', 'charging_session.updated'];

/* Contract §19: what happens to a driver is seen as it happens, on the page of a sandbox. */
describe('The page of a sandbox', () => {
  const service = useSharedService({ env: WEBHOOK_ENV, instances: 2 });
  afterAll(() => endSandboxes(service));
  const webhooks = Webhooks.setUp(service);
  const there = () => service.instances[1]!;
  const partner = madeForEach(() => SandboxProgram.start(service));
  const portal = madeForEach(() => enterPortal(service, partner.client));
  const open: EventStream[] = [];
  afterEach(() => open.splice(0).forEach((stream) => stream.close()));

  const follow = async (by: BrowserSession, url = service.url): Promise<EventStream> => {
    const cookie = [...by.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const stream = await EventStream.open(url + PATH, { headers: { cookie, accept: 'text/event-stream' } });
    open.push(stream);
    return stream;
  };
  const changesOf = ({ text }: EventStream) => text.split('event: change').length - 1;
  /** The page may be older than the stream, so the first look is told. */
  const isRead = (stream: EventStream) => until('the sandbox is read', () => changesOf(stream) > 0);
  /** Does something, and waits until the stream tells of it. */
  const isTold = async (stream: EventStream, act: () => Promise<unknown>): Promise<void> => {
    const before = changesOf(stream);
    await act();
    await until('the change is told', () => changesOf(stream) > before);
  };
  const live = async (driver: SandboxDriver): Promise<string> =>
    (await portal.open(`/portal/sandbox?driver=${driver.id}&part=live`)).html.text;

  describe('is not followed', () => {
    it('without a session, and not in the portal of a live client', async () => {
      const asked = await EventStream.open(service.url + PATH);
      const ofLive = await follow(await enterPortal(service, await service.make.client()));
      expect([asked.status, ofLive.status]).toEqual([401, 404]);
    });

    it('more often than a session may, until one of them has gone', async () => {
      const streams = [];
      for (let n = 0; n < STREAMS_PER_SESSION; n++) streams.push(await follow(portal));
      expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
      const refused = await follow(portal);
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
      streams[0]!.close();
      await until('there is room again', async () => (await follow(portal)).status === 200);
    });

    it('more often than a client may, with however many links; others are followed meanwhile', async () => {
      const stranger = await SandboxProgram.start(service);
      const sessions = await Promise.all(
        Array.from({ length: STREAMS_PER_CLIENT / STREAMS_PER_SESSION }, () =>
          enterPortal(service, partner.client),
        ),
      );
      const streams = [];
      for (const session of sessions) {
        for (let n = 0; n < STREAMS_PER_SESSION; n++) streams.push(await follow(session));
      }
      expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
      const refused = await follow(portal);
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
      expect((await follow(await enterPortal(service, stranger.client))).status).toBe(200);
      streams.at(-1)!.close();
      await until('there is room again', async () => (await follow(portal)).status === 200);
    });

    it('beyond the end of its session', async () => {
      const stream = await follow(portal);
      await isRead(stream);
      await service.database.query('DELETE FROM portal_sessions WHERE client_id = $1', [partner.client.id]);
      await stream.over();
      expect((await follow(portal)).status).toBe(401);
    });

    it('by an instance that stops', async () => {
      const instance = await startInstance(service.database, { ...WEBHOOK_ENV, BASE_URL: service.url });
      const stream = await follow(portal, instance.url);
      await instance.app.close();
      await stream.over();
    });
  });

  it('is told by any instance that something has happened, and of nobody else, never what', async () => {
    const others = await enterPortal(service, (await SandboxProgram.start(service)).client);
    // Requests are logged behind their answers.
    for (const { app } of service.instances) await app.get(RequestLogService).flush();
    const [here, elsewhere] = [await follow(portal), await follow(portal, there().url)];
    const other = await follow(others);
    expect(here.headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    for (const stream of [here, elsewhere, other]) await isRead(stream);
    const before = changesOf(other);
    const driver = await partner.driver();
    await webhooks.endpoint(partner.client, { types: TYPES });
    await isTold(elsewhere, () =>
      isTold(here, () => partner.call('POST', `drivers/${driver.id}/events`, { count: 2 })),
    );
    await isTold(here, () => partner.call('POST', 'faults', { kind: '503', count: 1 }));
    expect(changesOf(other)).toBe(before);
    for (const { text } of [here, other])
      expect(text.replaceAll(/event: change\ndata: \{\}\n\n|: alive\n\n/g, '')).toBe('');
  });

  it('shows the car, the signed requests, and faults with what came of them', async () => {
    const driver = await partner.driver({ name: 'Robin', seed: 42 });
    expect(await live(driver)).toContain('This client has no endpoint yet');
    const endpoint = await webhooks.endpoint(partner.client, { types: TYPES });
    expect(await live(driver)).toContain('Start a session');
    await partner.call('POST', `drivers/${driver.id}/sessions`, { speed: 1 });
    await webhooks.receives(endpoint, 1);
    const [received] = webhooks.received(endpoint);
    await webhooks.finished(String(received!.headers['webhook-id']));
    const page = await live(driver);
    expect(page).toContain('Delivered');
    expect(page).toContain('plugged in, waiting to charge');
    expect(page).toContain(`webhook-signature: ${String(received!.headers['webhook-signature'])}`);
    expect(page).not.toContain('authorization');
    // What one driver does is not shown of another.
    const second = await partner.driver({ name: 'Sam' });
    expect(await live(second)).not.toContain(String(received!.headers['webhook-id']));

    await partner.call('POST', 'faults', { kind: '429', count: 1 });
    expect(await live(driver)).toContain('The next request is answered with 429');
    for (const status of [429, 200, 200, 200])
      expect((await service.http.get('/v2/events', { bearer: partner.bearer })).status).toBe(status);
    const after = await live(driver);
    expect(after).not.toContain('The next request is answered with 429');
    expect(after).toContain('Made to fail, as you asked: rate-limit-exceeded');
    // Only the one after the fault is its next; those after that are in the log of requests.
    expect(after.match(/Your program’s request after it/g)).toHaveLength(1);
    expect(after.match(/GET \/v2\/events/g)).toHaveLength(2);
  });

  it('hides signatures of what the driver no longer shares and was never delivered', async () => {
    const driver = await partner.driver();
    const endpoint = await webhooks.endpoint(partner.client, { types: TYPES, reply: 500 });
    await partner.call('POST', `drivers/${driver.id}/events`, { count: 1 });
    await webhooks.receives(endpoint);
    await webhooks.attempted(String(webhooks.received(endpoint)[0]!.headers['webhook-id']));
    expect(await live(driver)).toContain('webhook-signature: v1,');
    await partner.call('DELETE', `drivers/${driver.id}/consent`);
    expect(await live(driver)).not.toContain('v1,');
  });
});
