import type { LookupAddress } from 'node:dns';
import { checkEndpointAddress } from '#events/webhooks/http/endpoint-url.js';
import {
  GuardedHttpClient,
  type GuardedHttpClientOptions,
} from '#events/webhooks/http/guarded-http-client.js';
import { GuardedConnector } from '#events/webhooks/http/guarded-connector.js';
import { certificateFor, Receiver } from '../support/receiver.js';
import { until } from '../support/until.js';
import { listOf } from '../support/list-of.js';

const BLOCKED = expect.objectContaining({ kind: 'failure', failure: 'blocked_address' });
const PUBLIC: LookupAddress = { address: '93.184.215.14', family: 4 };
const INTERNAL: LookupAddress = { address: '127.0.0.1', family: 4 };

describe('The guarded HTTP client', () => {
  let receiver: Receiver;
  let clients: GuardedHttpClient[];

  beforeAll(async () => {
    const tls = await certificateFor('hooks.example');
    receiver = await Receiver.start(undefined, tls);
  });

  beforeEach(() => void (clients = []));
  afterEach(() => clients.forEach((client) => client.destroy()));

  afterAll(async () => {
    await receiver.stop();
    expect(receiver.connections).toBe(0);
  });

  function client(options: Partial<GuardedHttpClientOptions> = {}): GuardedHttpClient {
    const created = new GuardedHttpClient({ allowPrivateAddresses: false, timeoutMs: 120_000, ...options });
    clients.push(created);
    return created;
  }

  const post = (url: string, options: Partial<GuardedHttpClientOptions> = {}) =>
    client(options).post(url, {}, '{}');
  const answering = (...addresses: LookupAddress[]) => ({ lookup: async () => addresses });

  it.each(
    listOf(`
    127.0.0.1, 2130706433, 0x7f000001, [::1], [::ffff:169.254.169.254], [64:ff9b::a9fe:a9fe],
    169.254.169.254, 0.0.0.0, 100.64.0.1, [fd00:ec2::254], localhost, receiver.internal
  `),
  )('does not connect to an internal address or name: %s', async (host) => {
    expect(await post(receiver.url('/hook', host, 'https'))).toEqual(BLOCKED);
  });

  it.each(
    listOf(`
    127.0.0.1, ::1, ::ffff:127.0.0.1, ::ffff:169.254.169.254, 64:ff9b::a9fe:a9fe, 0.0.0.0, 169.254.169.254,
    100.64.0.1, fd00:ec2::254, 2002:7f00:1::, fe80::1%lo
  `),
  )('does not connect to a name that resolves to %s', async (address) => {
    const options = answering({ address, family: address.includes(':') ? 6 : 4 });
    const outcome = await post(receiver.url('/hook', 'hooks.example', 'https'), options);
    expect(outcome).toEqual(BLOCKED);
    expect(JSON.stringify(outcome)).not.toContain(address);
  });

  it.each([
    ['first', [INTERNAL, PUBLIC]],
    ['last', [PUBLIC, { address: '2606:4700::1111', family: 6 }, INTERNAL]],
  ])(
    'does not connect to a name that also resolves to an internal address, the %s of its answers',
    async (_, addresses) => {
      const url = receiver.url('/hook', 'hooks.example', 'https');
      expect(await post(url, answering(...addresses))).toEqual(BLOCKED);
    },
  );

  describe('for sandboxes of the demonstration', () => {
    const here = { sandboxesReachThisMachine: true };
    const postFor = (isSandbox: boolean, url: string, options: Partial<GuardedHttpClientOptions> = here) =>
      client(options).post(url, {}, '{}', undefined, { isSandbox });
    const own = Receiver.setUp();

    it.each(['127.0.0.1', 'localhost'])('connects to %s', async (host) => {
      expect(await postFor(true, own.url('/hook', host))).toMatchObject({ kind: 'response', status: 200 });
    });

    it('does not for a live client, nor where it is no demonstration', async () => {
      expect(await postFor(false, own.url('/hook'))).toEqual(BLOCKED);
      expect(await postFor(true, own.url('/hook'), {})).toEqual(BLOCKED);
    });

    it.each(['169.254.169.254', '10.0.0.1', '0.0.0.0', '[::ffff:127.0.0.1]', 'printer', 'a.localhost'])(
      'does not connect to other internal addresses and names: %s',
      async (host) => {
        expect(await postFor(true, own.url('/hook', host, 'https'))).toEqual(BLOCKED);
      },
    );

    it('does not connect to another name that leads to this machine', async () => {
      const options = { ...here, ...answering(INTERNAL) };
      const url = receiver.url('/hook', 'hooks.example', 'https');
      expect(await postFor(true, url, options)).toEqual(BLOCKED);
    });
  });

  it('blocks a name that changes its answer after the endpoint was saved', async () => {
    const url = receiver.url('/hook', 'hooks.example', 'https');
    const answers = [[PUBLIC], [INTERNAL]];
    const lookup = async () => answers.shift()!;
    expect(await checkEndpointAddress(url, { allowPrivateAddresses: false, lookup })).toBeUndefined();
    expect(await post(url, { lookup })).toEqual(BLOCKED);
    expect(answers).toEqual([]);
  });

  it('blocks an answer that changes between the check and the connection', async () => {
    const looked: string[] = [];
    const changing = () => ({
      family: 4,
      get address() {
        looked.push(looked.length === 0 ? PUBLIC.address : INTERNAL.address);
        return looked.at(-1)!;
      },
    });
    let heard = 0;
    const own = await Receiver.startRaw(() => heard++);
    const url = own.url('/hook', 'hooks.example', 'https');
    expect(await post(url, { lookup: async () => [changing()] })).toEqual(BLOCKED);
    await until('it was connected to, and dropped', () => own.connections === 1 && own.sockets.size === 0);
    expect(heard).toBe(0);
    expect(looked.slice(0, 2)).toEqual([PUBLIC.address, INTERNAL.address]);
    await own.stop();
  });

  it('does not connect to a host that is an internal address, whichever code asks for it', async () => {
    const connector = new GuardedConnector({ allowPrivateAddresses: false });
    for (const hostname of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) {
      const target = { hostname, protocol: 'https:', port: String(receiver.port) };
      const error = await new Promise(
        (resolve) => void connector.connect(target, (...[problem]) => resolve(problem)),
      );
      expect(error).toMatchObject({ failure: 'blocked_address' });
    }
  });

  it('resolves the name once for each connection', async () => {
    let asked = 0;
    const lookup = async () => {
      asked++;
      return [INTERNAL];
    };
    const own = await Receiver.start();
    const url = own.url('/hook', 'hooks.example');
    expect(await post(url, { allowPrivateAddresses: true, lookup })).toMatchObject({ status: 200 });
    expect(asked).toBe(1);
    await own.stop();
  });

  it('uses http only where internal addresses are allowed', async () => {
    const own = await Receiver.start();
    expect(await post(own.url())).toEqual(BLOCKED);
    expect(await post('http://hooks.example/', answering(PUBLIC))).toEqual(BLOCKED);
    expect(own.connections).toBe(0);
    const outcome = await post(own.url('/hook', 'localhost'), { allowPrivateAddresses: true });
    expect(outcome).toMatchObject({ kind: 'response', status: 200 });
    await own.stop();
  });

  it.each([301, 302, 303, 307, 308])(
    'follows no redirect, not even to an internal address: %d',
    async (status) => {
      const elsewhere = await Receiver.start();
      const own = await Receiver.start((response) =>
        response.writeHead(status, { location: elsewhere.url() }).end('moved'),
      );
      const outcome = await post(own.url(), { allowPrivateAddresses: true });
      expect(outcome).toMatchObject({ kind: 'response', status, bodyStart: 'moved' });
      expect(elsewhere.connections).toBe(0);
      await Promise.all([own.stop(), elsewhere.stop()]);
    },
  );

  it.each([
    ['ENOTFOUND', /does not exist/],
    ['ESERVFAIL', /error/],
  ])('reports a name that does not resolve: %s', async (code, detail) => {
    const lookup = () => Promise.reject(Object.assign(new Error('queryA'), { code }));
    const outcome = await post('https://hooks.example/', { lookup });
    expect(outcome).toMatchObject({ kind: 'failure', failure: 'dns', detail: expect.stringMatching(detail) });
  });

  it('gives up when the name servers hang', async () => {
    const options = { lookup: () => new Promise<never>(() => undefined), dnsTimeoutMs: 100 };
    const outcome = await post('https://hooks.example/', options);
    expect(outcome).toMatchObject({ kind: 'failure', failure: 'dns' });
  });
});
