import type { Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { GuardedHttpClient } from '#events/webhooks/http/guarded-http-client.js';
import { HeldTimers } from '../support/held-timers.js';
import { certificateAuthority, certificateFor, Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';

const LOOPBACK = async () => [{ address: '127.0.0.1', family: 4 }];
const TIMEOUT_MS = 120_000;
const HTTP2_ONLY = 'The server does not accept HTTP/1.1, and seems to accept HTTP/2 only.';
const CLIENT_CERTIFICATE =
  'The server asked for a client certificate (mutual TLS) and closed the connection because there is none.';
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const PROCESSING = 'HTTP/1.1 102 Processing\r\n\r\n';
const EARLY_HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n';

describe('The guarded HTTP client and receivers of other kinds', () => {
  let ca: { key: string; cert: string };
  let certificate: { key: string; cert: string };
  let client: GuardedHttpClient;
  let receivers: Receiver[];

  beforeAll(async () => {
    ca = await certificateAuthority();
    certificate = await certificateFor('hooks.example', { ca });
  });

  beforeEach(() => {
    receivers = [];
    client = new GuardedHttpClient({
      allowPrivateAddresses: true,
      lookup: LOOPBACK,
      timeoutMs: TIMEOUT_MS,
      ca: ca.cert,
    });
  });

  afterEach(async () => {
    client.destroy();
    await Promise.all(receivers.map((receiver) => receiver.stop()));
  });

  async function use(receiver: Promise<Receiver>): Promise<Receiver> {
    receivers.push(await receiver);
    return receiver;
  }

  const raw = (answer: (socket: Socket, times: number) => void) => use(Receiver.startRaw(answer));
  const post = (receiver: Receiver, scheme = 'http') =>
    client.post(receiver.url('/hook', 'hooks.example', scheme), {}, '{"a":1}');
  const failure = (kind: string, detail: unknown) => ({
    kind: 'failure',
    failure: kind,
    detail,
    durationMs: expect.any(Number),
  });

  describe('that send interim responses (1xx) first', () => {
    it.each([
      ['switch the protocol', `HTTP/1.1 101 Switching Protocols\r\n\r\n${OK}`, /101/],
      ['switch it later', `${CONTINUE}HTTP/1.1 101 Switching Protocols\r\n\r\n${OK}`, /101/],
      ['send eleven', CONTINUE.repeat(11) + OK, /too many interim/],
      [
        'send large ones',
        `HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(20_000)}\r\n\r\n${OK}`,
        /too large/,
      ],
      [
        'send large ones together',
        `HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(9_000)}\r\n\r\n`.repeat(2) + OK,
        /too large/,
      ],
    ])('are refused if they %s', async (_, bytes, detail) => {
      const receiver = await raw((socket) => void socket.write(bytes));
      expect(await post(receiver)).toEqual(failure('http', expect.stringMatching(detail)));
      await until('the connection is closed', () => receiver.sockets.size === 0);
      expect(receiver.connections).toBe(1);
    });

    it('and nothing else run out of time', async () => {
      let sent = 0;
      const receiver = await raw((socket) => void (sent++, socket.write(CONTINUE)));
      const limit = HeldTimers.hold(TIMEOUT_MS / 2, TIMEOUT_MS);
      try {
        const outcome = post(receiver);
        await until('one was sent', () => sent > 0);
        limit.letPass();
        expect(await outcome).toEqual(failure('timeout', expect.stringMatching(/no response/)));
      } finally {
        limit.release();
      }
    });

    it('and hang up are not asked a second time', async () => {
      const receiver = await raw((socket, times) => (times === 1 ? socket.write(OK) : socket.end(CONTINUE)));
      expect(await post(receiver)).toMatchObject({ status: 200 });
      expect(await post(receiver)).toEqual(failure('http', 'The response ended before it was complete.'));
      expect(receiver.connections).toBe(1);
    });

    it.each([
      ['one 100', CONTINUE],
      ['one 102', PROCESSING],
      ['one 103', EARLY_HINTS],
      ['several', CONTINUE + PROCESSING + EARLY_HINTS],
      ['ten', CONTINUE.repeat(10)],
      ['with headers', 'HTTP/1.1 100 Continue\r\nServer: x\r\nContent-Length: 5\r\n\r\n'],
      ['after an empty line', `\r\n${CONTINUE}`],
      ['of HTTP/1.0', 'HTTP/1.0 100 Continue\r\n\r\n'],
    ])('are heard to the end, on the same connection again: %s', async (_, interim) => {
      const receiver = await raw((socket) => void socket.write(interim + OK));
      for (let n = 0; n < 3; n++)
        expect(await post(receiver)).toMatchObject({ status: 200, bodyStart: 'ok' });
      expect(receiver.connections).toBe(1);
    });

    it('are heard to the end, in the smallest pieces', async () => {
      const receiver = await raw((socket) => {
        const bytes = [...(CONTINUE + EARLY_HINTS + OK)];
        const next = () => void (bytes.length > 0 && socket.write(bytes.shift()!, () => setImmediate(next)));
        next();
      });
      expect(await post(receiver)).toMatchObject({ status: 200, bodyStart: 'ok' });
    });

    it('are heard to the end with TLS', async () => {
      const receiver = await use(
        Receiver.start((response) => {
          response.writeContinue();
          response.writeProcessing();
          response.end('ok');
        }, certificate),
      );
      for (let n = 0; n < 2; n++)
        expect(await post(receiver, 'https')).toMatchObject({ status: 200, bodyStart: 'ok' });
      expect(receiver.connections).toBe(1);
    });

    it('that look like one inside of a body change nothing', async () => {
      const body = `${CONTINUE}${EARLY_HINTS}`;
      const receiver = await raw(
        (socket) => void socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`),
      );
      expect(await post(receiver)).toMatchObject({ status: 200, bodyStart: body });
    });
  });

  it.each([
    ['by their TLS', true, 'tls'],
    ['by their answer', false, 'http'],
  ])('that speak HTTP/2 only are told so, %s', async (_, withTls, kind) => {
    const receiver = await use(Receiver.startHttp2Only(withTls ? certificate : undefined));
    expect(await post(receiver, withTls ? 'https' : 'http')).toEqual(failure(kind, HTTP2_ONLY));
  });

  describe('that ask for a client certificate', () => {
    const asking = (options: object) =>
      use(Receiver.start(undefined, { ...certificate, ca: ca.cert, requestCert: true, ...options }));

    it.each(['TLSv1.2', 'TLSv1.3'])('and demand it are told that there is none (%s)', async (version) => {
      const receiver = await asking({ minVersion: version, maxVersion: version });
      expect(await post(receiver, 'https')).toEqual(failure('tls', CLIENT_CERTIFICATE));
      expect(receiver.requests).toEqual([]);
    });

    it.each(['TLSv1.2', 'TLSv1.3'])('and can do without are served (%s)', async (version) => {
      const receiver = await asking({ minVersion: version, maxVersion: version, rejectUnauthorized: false });
      expect(await post(receiver, 'https')).toMatchObject({ status: 200 });
    });

    it('and have a bad one themselves are told that first', async () => {
      const receiver = await asking(await certificateFor('hooks.example', { ca, expired: true }));
      expect(await post(receiver, 'https')).toEqual(failure('tls', 'The certificate has expired.'));
    });
  });

  describe('that encode the body of the response', () => {
    const answering = (encoding: string, body: Buffer) =>
      use(Receiver.start((response) => response.writeHead(503, { 'content-encoding': encoding }).end(body)));

    it.each([
      ['gzip', gzipSync('out of order'), ' (gzip)'],
      ['br', brotliCompressSync('out of order'), ' (br)'],
      ['GZIP', gzipSync('out of order'), ' (gzip)'],
      ['gzip, br', gzipSync('out of order'), ''],
      ['x-rot13', Buffer.from('bhg bs beqre'), ''],
    ])('are told why it is not shown: %s', async (encoding, body, named) => {
      expect(await post(await answering(encoding, body))).toMatchObject({
        status: 503,
        bodyStart: '',
        detail: `The body of the response is encoded${named}, which deliveries do not ask for. It is not shown.`,
      });
    });

    it.each([
      ['identity', 'out of order'],
      ['gzip', ''],
    ])('have nothing to be told if there is nothing to decode: %s', async (encoding, body) => {
      const outcome = await post(await answering(encoding, Buffer.from(body)));
      expect(outcome).toMatchObject({ status: 503, bodyStart: body });
      expect(outcome).not.toHaveProperty('detail');
    });
  });
});
