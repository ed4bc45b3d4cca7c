import type { Socket } from 'node:net';
import { GuardedHttpClient } from '#events/webhooks/http/guarded-http-client.js';
import { HeldTimers } from '../support/held-timers.js';
import { Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const LOOPBACK = async () => [{ address: '127.0.0.1', family: 4 }];
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

describe('The connections of the guarded HTTP client', () => {
  let client: GuardedHttpClient;
  let receiver: Receiver | undefined;
  /** Idle connections are not closed for their age, however busy the machine is. */
  let ages: HeldTimers;

  beforeEach(() => {
    ages = HeldTimers.hold(10_000, 10_000, 'client-h1');
    client = new GuardedHttpClient({ allowPrivateAddresses: true, lookup: LOOPBACK, timeoutMs: 120_000 });
  });

  afterEach(async () => {
    client.destroy();
    await receiver?.stop();
    receiver = undefined;
    ages.release();
  });

  const post = (path = '/hook', signal?: AbortSignal, body = '{}') =>
    client.post(receiver!.url(path), { 'content-type': 'application/json' }, body, signal);
  /** The path /hang is answered only on demand. */
  const startHanging = async () => {
    const held: (() => void)[] = [];
    receiver = await Receiver.start((response, { url }) => {
      if (url === '/hang') held.push(() => response.end('late'));
      else response.end('ok');
    });
    return { held, untilHeld: (n: number) => until(`${n} requests hang`, () => held.length === n) };
  };

  it('send nothing when the signal was aborted before', async () => {
    receiver = await Receiver.start();
    expect(await post('/hook', AbortSignal.abort())).toEqual({ kind: 'aborted' });
    expect(receiver.connections).toBe(0);
  });

  it('are closed when the signal is aborted while a response is awaited', async () => {
    const { untilHeld } = await startHanging();
    const controller = new AbortController();
    const outcomes = Array.from({ length: 12 }, () => post('/hang', controller.signal));
    await untilHeld(12);
    controller.abort();
    expect(await Promise.all(outcomes)).toEqual(outcomes.map(() => ({ kind: 'aborted' })));
    await until('all are closed', () => receiver!.sockets.size === 0);
    // Nothing was opened in their place: only this one comes after them.
    expect(await post()).toMatchObject({ status: 200 });
    expect(receiver!.connections).toBe(13);
  });

  it('send nothing when the signal is aborted while the name is resolved', async () => {
    receiver = await Receiver.start();
    const waiting: (() => void)[] = [];
    const slow = new GuardedHttpClient({
      allowPrivateAddresses: true,
      lookup: () => new Promise((resolve) => waiting.push(() => resolve(LOOPBACK()))),
    });
    const send = (body: string, signal?: AbortSignal) =>
      slow.post(receiver!.url('/hook', 'hooks.example'), {}, body, signal);
    const controller = new AbortController();
    const given = send('given up', controller.signal);
    controller.abort();
    expect(await given).toEqual({ kind: 'aborted' });
    const next = send('next');
    await until('both are looked up', () => waiting.length === 2);
    for (const answer of waiting) answer();
    expect(await next).toMatchObject({ status: 200 });
    expect(receiver.requests.map(({ body }) => body)).toEqual(['next']);
    expect(receiver.connections).toBe(1);
    slow.destroy();
  });

  it('carry the request unchanged, with its length', async () => {
    receiver = await Receiver.start((response) =>
      response.writeHead(503, { 'retry-after': '120' }).end('Zo\u00eb\0'),
    );
    const outcome = await post('/a/b?c=d%20e', undefined, '{"name":"Zo\u00eb"}');
    expect(outcome).toEqual({
      kind: 'response',
      status: 503,
      headers: expect.arrayContaining([['retry-after', '120']]),
      bodyStart: 'Zo\u00eb\ufffd',
      retryAfterMs: 120_000,
      durationMs: expect.any(Number),
    });
    expect(receiver.requests).toEqual([
      {
        method: 'POST',
        url: '/a/b?c=d%20e',
        body: '{"name":"Zo\u00eb"}',
        headers: {
          host: `127.0.0.1:${receiver.port}`,
          connection: 'keep-alive',
          'content-type': 'application/json',
          'content-length': '15',
        },
      },
    ]);
  });

  it('are reused', async () => {
    receiver = await Receiver.start();
    for (let n = 0; n < 20; n++) expect(await post()).toMatchObject({ status: 200 });
    expect(receiver.requests).toHaveLength(20);
    expect(receiver.connections).toBe(1);
  });

  it('to one hanging endpoint delay no other request, not even on the same host or to that endpoint', async () => {
    const { held, untilHeld } = await startHanging();
    const hanging = Array.from({ length: 40 }, () => post('/hang'));
    await untilHeld(40);
    // None of the 40 has been answered or given up yet.
    expect(await post('/other')).toMatchObject({ status: 200 });
    for (const answer of held) answer();
    for (const outcome of await Promise.all(hanging)) expect(outcome).toMatchObject({ bodyStart: 'late' });
    // As many as attempts of one endpoint run at a time are kept.
    await until('those to spare are closed', () => receiver!.sockets.size <= 32 + 1);
    for (let n = 0; n < 10; n++) await post('/other');
    expect(receiver!.connections).toBe(41);
  });

  it('that the receiver closes while idle are replaced', async () => {
    receiver = await Receiver.start();
    await post();
    for (const socket of receiver.sockets) socket.end();
    await until('it is closed', () => receiver!.sockets.size === 0);
    expect(await post()).toMatchObject({ status: 200 });
    expect(receiver.connections).toBe(2);
  });

  it.each([
    ['reset', (socket: Socket) => void socket.resetAndDestroy()],
    ['closed', (socket: Socket) => void socket.end()],
  ])('that are %s during a second request are replaced once, within that request', async (_, how) => {
    receiver = await Receiver.startRaw((socket, times) => (times === 2 ? how(socket) : socket.write(OK)));
    expect(await post()).toMatchObject({ status: 200 });
    expect(await post()).toMatchObject({ status: 200, bodyStart: 'ok' });
    expect(receiver.connections).toBe(2);
  });

  it('are not replaced a second time', async () => {
    receiver = await Receiver.startRaw((socket, times) =>
      times === 1 ? socket.write(OK) : socket.resetAndDestroy(),
    );
    expect(await post()).toMatchObject({ status: 200 });
    expect(await post()).toMatchObject({ kind: 'failure', failure: 'connection' });
    expect(receiver.connections).toBe(2);
  });

  it('are not replaced after a response has begun', async () => {
    receiver = await Receiver.startRaw((socket, times) =>
      times === 1 ? socket.write(OK) : socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'),
    );
    await post();
    expect(await post()).toMatchObject({ kind: 'failure', failure: 'http' });
    expect(receiver.connections).toBe(1);
  });

  it('are kept for at most 256 endpoints; the ones removed finish first', async () => {
    const { held, untilHeld } = await startHanging();
    const hanging = post('/hang');
    await untilHeld(1);
    for (let n = 0; n < 300; n++) expect(await post(`/${n}`)).toMatchObject({ status: 200 });
    await until('the oldest are closed', () => receiver!.sockets.size <= 257);
    expect(receiver!.sockets.size).toBeGreaterThan(250);
    held[0]!();
    expect(await hanging).toMatchObject({ status: 200, bodyStart: 'late' });
  });

  it('are closed cleanly: requests under way finish first, and no new one begins', async () => {
    const { held, untilHeld } = await startHanging();
    await post('/idle');
    const hanging = post('/hang');
    await untilHeld(1);
    let closed = false;
    const closing = client.close().then(() => (closed = true));
    expect(await post()).toEqual({ kind: 'aborted' });
    expect(closed).toBe(false);
    held[0]!();
    expect(await hanging).toMatchObject({ status: 200, bodyStart: 'late' });
    await closing;
    await until('all are closed', () => receiver!.sockets.size === 0);
    await client.close();
  });

  it('are all closed at once when there is no time', async () => {
    const { untilHeld } = await startHanging();
    const hanging = [post('/hang'), post('/hang')];
    await untilHeld(2);
    client.destroy();
    expect(await Promise.all(hanging)).toEqual([{ kind: 'aborted' }, { kind: 'aborted' }]);
    expect(await post()).toEqual({ kind: 'aborted' });
    await until('all are closed', () => receiver!.sockets.size === 0);
  });

  it('reject an invalid header of the caller', async () => {
    receiver = await Receiver.start();
    await expect(client.post(receiver.url(), { 'x-a': 'b\r\nc' }, '')).rejects.toThrow(/invalid/);
    expect(receiver.requests).toEqual([]);
  });
});
