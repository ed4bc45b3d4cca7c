import dns from 'node:dns';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { EnvHttpProxyAgent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { askNameServers } from '#platform/http/names/ask-name-servers.js';
import { Names } from '#platform/http/names/names.js';
import { providerFetch } from '#access/identity-providers/protocol/provider-fetch.js';
import { GuardedHttpClient } from '#events/webhooks/http/guarded-http-client.js';
import { freePort } from '../support/free-port.js';
import { HeldTimers } from '../support/held-timers.js';
import { NAME_ERROR, NameServer, NO_ERROR, SERVER_FAILURE } from '../support/name-server.js';
import { Receiver } from '../support/receiver.js';

const TIMEOUT_MS = 60_000;

let server: NameServer;
beforeAll(async () => (server = await NameServer.start()));
beforeEach(() => void (server.asked.length = 0));

describe('name servers', () => {
  const ask = () => askNameServers(['hooks.example'], { servers: [server.address], timeoutMs: TIMEOUT_MS });

  it('that hang are given up in time', async () => {
    server.says = () => undefined;
    const limit = HeldTimers.hold(TIMEOUT_MS);
    try {
      const asked = expect(ask()).rejects.toMatchObject({ code: 'ECANCELLED' });
      expect(limit.count).toBe(1);
      limit.letPass();
      await asked;
    } finally {
      limit.release();
    }
  });

  it.each([
    [NAME_ERROR, 'ENOTFOUND'],
    [SERVER_FAILURE, 'ESERVFAIL'],
    [NO_ERROR, 'ENODATA'],
  ])('that have no address fail, with response code %d', async (code, name) => {
    server.says = () => code;
    await expect(ask()).rejects.toMatchObject({ code: name });
  });

  it('have addresses of both families', async () => {
    server.says = () => ['8.8.8.8', '2606:4700::1111'];
    expect(await ask()).toEqual([
      { address: '8.8.8.8', family: 4 },
      { address: '2606:4700::1111', family: 6 },
    ]);
  });

  it('are heard for one family when they fail or hang for the other', async () => {
    server.says = (_, family) => (family === 4 ? ['8.8.8.8'] : undefined);
    expect(await ask()).toEqual([{ address: '8.8.8.8', family: 4 }]);
    server.says = (_, family) => (family === 4 ? ['8.8.8.8'] : SERVER_FAILURE);
    expect(await ask()).toEqual([{ address: '8.8.8.8', family: 4 }]);
  });
});

describe('names of the own network', () => {
  let folder: string;
  let names: Names;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'charging-names-'));
    const [hostsFile, resolverFile] = [path.join(folder, 'hosts'), path.join(folder, 'resolv.conf')];
    await writeFile(hostsFile, '127.0.0.1 receiver.corp\n');
    await writeFile(resolverFile, 'search north.example south.example\noptions ndots:2\n');
    names = new Names({ servers: [server.address], timeoutMs: TIMEOUT_MS, hostsFile, resolverFile });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const find = async (name: string) => (await names.local(name)).map(({ address }) => address);
  const askedFor = () => [...new Set(server.asked.map((query) => query.split(' ')[0]))];

  it('are found in the hosts file, and then nobody is asked', async () => {
    expect(await find('receiver.corp')).toEqual(['127.0.0.1']);
    expect(await find('localhost')).toEqual(['127.0.0.1', '::1']);
    expect(server.asked).toEqual([]);
  });

  it.each<[string, Record<string, string[] | number>, string[]]>([
    [
      'receiver',
      { 'receiver.north.example': ['10.0.0.1'], receiver: ['10.0.0.9'] },
      ['receiver.north.example'],
    ],
    [
      'receiver',
      { 'receiver.south.example': ['10.0.0.1'] },
      ['receiver.north.example', 'receiver.south.example'],
    ],
    [
      'receiver',
      { 'receiver.north.example': SERVER_FAILURE, receiver: ['10.0.0.1'] },
      ['receiver.north.example', 'receiver.south.example', 'receiver'],
    ],
    ['a.b.example', { 'a.b.example': ['10.0.0.1'] }, ['a.b.example']],
    [
      'a.b.example',
      { 'a.b.example.north.example': ['10.0.0.1'] },
      ['a.b.example', 'a.b.example.north.example'],
    ],
  ])(
    'are searched for within the domains of the machine: %s, where there is %j',
    async (name, zone, asked) => {
      server.says = (each) => zone[each] ?? NAME_ERROR;
      expect(await find(name)).toEqual(['10.0.0.1']);
      expect(askedFor()).toEqual(asked);
    },
  );

  it('that are nowhere do not exist, and a failure of a server says more than that', async () => {
    server.says = () => NAME_ERROR;
    await expect(find('receiver')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    server.says = (name) => (name === 'receiver.south.example' ? SERVER_FAILURE : NAME_ERROR);
    await expect(find('receiver')).rejects.toMatchObject({ code: 'ESERVFAIL' });
  });

  it('are not searched for any further when no server answers', async () => {
    server.says = () => undefined;
    await expect(find('receiver')).rejects.toMatchObject({ code: 'ETIMEOUT' });
    expect(askedFor()).toEqual(['receiver.north.example']);
  });

  it('are public names as they are, which the hosts file and the domains do not change', async () => {
    server.says = (name) => (name === 'receiver.corp' ? ['8.8.8.8'] : NAME_ERROR);
    expect((await names.public('receiver.corp')).map(({ address }) => address)).toEqual(['8.8.8.8']);
    await expect(names.public('receiver')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    expect(askedFor()).toEqual(['receiver.corp', 'receiver']);
  });

  it('are looked up once at a time, however many ask, and again afterwards', async () => {
    server.says = () => ['10.0.0.1'];
    await Promise.all(Array.from({ length: 20 }, () => find('a.b.example')));
    expect(server.asked.sort()).toEqual(['a.b.example 4', 'a.b.example 6']);
    await find('a.b.example');
    expect(server.asked).toHaveLength(4);
  });

  it('whose servers never answer hold up no others', async () => {
    server.says = (name) => (name.startsWith('dead') ? undefined : ['127.0.0.1']);
    const receiver = await Receiver.start();
    const client = new GuardedHttpClient({
      allowPrivateAddresses: true,
      lookup: (name) => names.local(name),
    });
    const post = (host: string) => client.post(`http://${host}:${receiver.port}/`, {}, '{}');
    const dead = Array.from({ length: 16 }, (_, n) => post(`dead${n}.partner.example`));
    expect(await post('alive.partner.example')).toMatchObject({ kind: 'response', status: 200 });
    for (const outcome of await Promise.all(dead)) {
      expect(outcome).toMatchObject({
        kind: 'failure',
        failure: 'dns',
        detail: 'The name servers of the host did not respond in time.',
      });
    }
    client.destroy();
    await receiver.stop();
  });
});

describe('identity providers', () => {
  const issuer = (port: number) => new URL(`http://localhost:${port}`);
  const answering = (name: string) =>
    Receiver.start((response) => void response.end(JSON.stringify({ name })));

  it('are looked up in the same way, not by the system’s resolver', async () => {
    const provider = await answering('provider');
    const lookup = jest.spyOn(dns, 'lookup');
    try {
      const { port } = provider;
      const answer = await providerFetch(issuer(port))(`http://localhost:${port}/keys`);
      expect(await answer.json()).toEqual({ name: 'provider' });
      expect(lookup).not.toHaveBeenCalled();
    } finally {
      lookup.mockRestore();
      await provider.stop();
    }
  });

  it('are left to the proxy that Node.js was told to use', async () => {
    const proxy = await answering('proxy');
    const usual = getGlobalDispatcher();
    // As NODE_USE_ENV_PROXY does.
    setGlobalDispatcher(
      new EnvHttpProxyAgent({ httpProxy: `http://127.0.0.1:${proxy.port}`, noProxy: '', proxyTunnel: false }),
    );
    try {
      const port = await freePort();
      const answer = await providerFetch(issuer(port))(`http://localhost:${port}/keys`);
      expect(await answer.json()).toEqual({ name: 'proxy' });
    } finally {
      setGlobalDispatcher(usual);
      await proxy.stop();
    }
  });
});
