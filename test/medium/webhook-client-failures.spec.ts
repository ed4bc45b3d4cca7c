import type { Socket } from 'node:net';
import { freePort } from '../support/free-port.js';
import { GuardedHttpClient } from '#events/webhooks/http/guarded-http-client.js';
import type { HttpOutcome } from '#events/webhooks/http/http-outcome.js';
import { HeldTimers, turns } from '../support/held-timers.js';
import { certificateAuthority, certificateFor, Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const LOOPBACK = async () => [{ address: '127.0.0.1', family: 4 }];
const LIMIT = 16 * 1024;
const TIMEOUT_MS = 120_000;

describe('The guarded HTTP client', () => {
  let client: GuardedHttpClient;
  let receivers: Receiver[];

  beforeEach(() => {
    receivers = [];
    client = clientWith({});
  });

  afterEach(async () => {
    client.destroy();
    await Promise.all(receivers.map((receiver) => receiver.stop()));
  });

  const clientWith = (options: { timeoutMs?: number; ca?: string }) =>
    new GuardedHttpClient({
      allowPrivateAddresses: true,
      lookup: LOOPBACK,
      timeoutMs: TIMEOUT_MS,
      ...options,
    });

  async function use(receiver: Promise<Receiver>): Promise<Receiver> {
    receivers.push(await receiver);
    return receiver;
  }

  const raw = (answer: (socket: Socket) => void) => use(Receiver.startRaw(answer));
  const post = (url: string, by = client) => by.post(url, {}, '{"a":1}');
  /** The outcome of a request whose time expires once the condition holds. */
  async function outOfTime(url: string, when: () => boolean): Promise<HttpOutcome> {
    // The remaining time when the request begins.
    const limit = HeldTimers.hold(TIMEOUT_MS / 2, TIMEOUT_MS);
    try {
      const outcome = post(url);
      await until('its time is over', when);
      await turns();
      limit.letPass();
      return await outcome;
    } finally {
      limit.release();
    }
  }
  const failure = (kind: string, detail: RegExp) => ({
    kind: 'failure',
    failure: kind,
    detail: expect.stringMatching(detail),
    durationMs: expect.any(Number),
  });

  it('reports a connection that is refused', async () => {
    const outcome = await post(`http://hooks.example:${await freePort()}/`);
    expect(outcome).toEqual(failure('connection', /refused/));
    expect(JSON.stringify(outcome)).not.toContain('127.0.0.1');
  });

  it.each([
    ['reset', (socket: Socket) => void socket.resetAndDestroy()],
    ['closed', (socket: Socket) => void socket.end()],
  ])('reports a connection that is %s before a response, and does not try again', async (_, how) => {
    const receiver = await raw(how);
    expect(await post(receiver.url())).toEqual(failure('connection', /closed before a response/));
    expect(receiver.connections).toBe(1);
  });

  it.each([
    ['garbage', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['another version', 'HTTP/9.9 200 OK\r\n\r\n'],
    ['a bad length', 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a length and chunks', 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nxyz'],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'],
    ['an upgrade of its own', 'HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\n\r\n'],
    ['another protocol of its kind', 'ICE/1.0 200 OK\r\n\r\n'],
    ['endless interim responses', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)],
    ['an endless interim response', `HTTP/1.1 100 Continue\r\n${'x: y\r\n'.repeat(20_000)}`],
  ])('reports an invalid response: %s', async (_, bytes) => {
    const receiver = await raw((socket) => void socket.write(bytes));
    expect(await post(receiver.url())).toEqual(failure('http', /./));
    expect(receiver.connections).toBe(1);
  });

  it.each([
    ['one large', `x: ${'y'.repeat(20_000)}\r\n`],
    ['many small', 'x: y\r\n'.repeat(20_000)],
  ])('reports headers that are too large: %s', async (_, headers) => {
    const receiver = await raw((socket) => void socket.write(`HTTP/1.1 200 OK\r\n${headers}\r\n`));
    expect(await post(receiver.url())).toEqual(failure('http', /headers of the response are too large/));
  });

  it.each([
    ['with a length', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'],
    ['in chunks', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nhalf'],
  ])('reports an incomplete response, %s', async (_, bytes) => {
    const receiver = await raw((socket) => void socket.end(bytes));
    expect(await post(receiver.url())).toEqual(failure('http', /ended before it was complete/));
    expect(receiver.connections).toBe(1);
  });

  it('reports a missing response, and closes the connection', async () => {
    let asked = false;
    const receiver = await raw(() => void (asked = true));
    const outcome = await outOfTime(receiver.url(), () => asked);
    expect(outcome).toEqual(failure('timeout', /no response within 120 s/));
    await untilAllClosed(receiver);
  });

  it('reports a response that arrives too slowly', async () => {
    let sent = 0;
    const receiver = await raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n');
      const timer = setInterval(() => (sent++, socket.write('.')), 20);
      socket.on('close', () => clearInterval(timer));
    });
    const outcome = await outOfTime(receiver.url(), () => sent >= 10);
    expect(outcome).toEqual(failure('timeout', /was not complete within 120 s/));
    await untilAllClosed(receiver);
  });

  it('reports headers that arrive too slowly', async () => {
    let sent = 0;
    const receiver = await raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nX: ');
      const timer = setInterval(() => (sent++, socket.write('.')), 20);
      socket.on('close', () => clearInterval(timer));
    });
    expect(await outOfTime(receiver.url(), () => sent >= 10)).toEqual(failure('timeout', /no response/));
  });

  it('reads only 16 kB of an endless body before it closes the connection', async () => {
    const receiver = await raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const more = () => {
        while (!socket.destroyed && socket.write('\u00e9\0'.repeat(10_000)));
        socket.once('drain', more);
      };
      more();
    });
    const outcome = await post(receiver.url());
    expect(outcome).toMatchObject({ kind: 'response', status: 200 });
    const { bodyStart } = outcome as { bodyStart: string };
    expect(bodyStart).toBe('\u00e9\ufffd'.repeat(LIMIT).slice(0, bodyStart.length));
    expect(bodyStart.length).toBe(Math.floor((LIMIT * 2) / 3));
    await untilAllClosed(receiver);
  });

  it('keeps a body of exactly 16 kB and cuts off anything beyond', async () => {
    const receiver = await use(
      Receiver.start((response, { url }) => void response.end('x'.repeat(LIMIT + Number(url.slice(1))))),
    );
    for (const more of [-1, 0, 1]) {
      const outcome = await post(receiver.url(`/${more}`));
      expect(outcome).toMatchObject({ status: 200, bodyStart: 'x'.repeat(Math.min(LIMIT, LIMIT + more)) });
    }
  });

  describe('with TLS', () => {
    let ca: { key: string; cert: string };
    let trusting: GuardedHttpClient;

    beforeAll(async () => void (ca = await certificateAuthority()));
    beforeEach(() => void (trusting = clientWith({ ca: ca.cert })));
    afterEach(() => trusting.destroy());

    const urlOf = (receiver: Receiver) => receiver.url('/hook', 'hooks.example', 'https');

    it.each([
      ['self-signed', /self-signed/, () => certificateFor('hooks.example')],
      ['for another name', /another host name/, () => certificateFor('other.example', { ca })],
      ['expired', /expired/, () => certificateFor('hooks.example', { ca, expired: true })],
      [
        'of an unknown authority',
        /not trusted/,
        async () => certificateFor('hooks.example', { ca: await certificateAuthority() }),
      ],
    ])('rejects a certificate that is %s', async (_, detail, certificate) => {
      const receiver = await use(Receiver.start(undefined, await certificate()));
      expect(await post(urlOf(receiver), trusting)).toEqual(failure('tls', detail));
      expect(receiver.requests).toEqual([]);
    });

    it.each([
      ['speaks no TLS', (socket: Socket) => void socket.write('HTTP/1.1 400 Bad Request\r\n\r\n')],
      ['hangs up in the handshake', (socket: Socket) => void socket.resetAndDestroy()],
    ])('reports a receiver that %s', async (_, how) => {
      expect(await post(urlOf(await raw(how)), trusting)).toEqual(failure('tls', /handshake failed/));
    });

    it('reports a handshake that hangs', async () => {
      const receiver = await raw(() => undefined);
      const impatient = clientWith({ ca: ca.cert, timeoutMs: 300 });
      expect(await post(urlOf(receiver), impatient)).toEqual(failure('timeout', /No connection/));
      await impatient.close();
      await untilAllClosed(receiver);
    });

    it('accepts a certificate for the requested name, and sends the name (SNI)', async () => {
      const names: string[] = [];
      const receiver = await use(
        Receiver.start(undefined, {
          ...(await certificateFor('hooks.example', { ca })),
          SNICallback: (name, done) => {
            names.push(name);
            done(null);
          },
        }),
      );
      expect(await post(urlOf(receiver), trusting)).toMatchObject({ status: 200, bodyStart: 'ok' });
      expect(receiver.requests[0]!.headers.host).toBe(`hooks.example:${receiver.port}`);
      expect(names).toEqual(['hooks.example']);
    });
  });
});

async function untilAllClosed(receiver: Receiver): Promise<void> {
  await until('the connection is closed', () => receiver.connections > 0 && receiver.sockets.size === 0);
}
