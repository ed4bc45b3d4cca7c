import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify, type JWK } from 'jose';
import { hash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { until } from '../../../../test/support/until.js';
import { run } from '../../src/cli.js';
import { Feed, serve } from './feed.js';

const CLIENT_ID = 'clnt01HN2NJ9NMRZBXT1H6FT9N7735';
const CLIENT_SECRET = 'cds_cs_not-to-be-shown';
const SIGNING_SECRET = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;

let feed: Feed;
let service: Awaited<ReturnType<typeof serve>>;
let folder: string;
let cursor: string;
let written: string;
let said: string;
let stopping: AbortController;
let ended: Promise<number> | undefined;
/** What becomes of what is written to standard output. */
let write: (text: string) => Promise<void>;

beforeEach(async () => {
  [written, said, stopping, feed] = ['', '', new AbortController(), new Feed()];
  write = (text) => Promise.resolve(void (written += text));
  service = await serve(feed.handle);
  feed.url = service.url;
  folder = await mkdtemp(path.join(tmpdir(), 'charging-forward-'));
  cursor = path.join(folder, 'cursor.json');
});
afterEach(async () => {
  await stop();
  await service.stop();
  await rm(folder, { recursive: true });
});

const settings = () => ({
  CHARGING_DATA_URL: service.url,
  CHARGING_DATA_CLIENT_ID: CLIENT_ID,
  CHARGING_DATA_CLIENT_SECRET: CLIENT_SECRET,
});
const start = (to: string, args: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<number> => {
  stopping = new AbortController();
  return (ended = run(['forward', '--to', to, '--cursor', cursor, ...args], {
    env: { ...settings(), ...env },
    out: (text) => (written += text),
    write: (text) => write(text),
    error: (text) => (said += text),
    stop: stopping.signal,
  }));
};
async function stop(): Promise<void> {
  stopping.abort();
  await ended;
  ended = undefined;
}
const idsWritten = (): string[] =>
  written
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { id: string }).id);
const allIds = () => feed.events.map(({ id }) => id);
const position = async () => (JSON.parse(await readFile(cursor, 'utf8')) as { after: string }).after;
const waitsForEvents = () => until('it waits for events', () => feed.isAwaited);

describe('charging-data forward refuses', () => {
  it.each<[string[], string]>([
    [['forward', '--cursor', 'c'], 'Give --to'],
    [['forward', '--to', '-'], 'Give --cursor'],
    [['forward', '--to', 'hooks', '--cursor', 'c'], '--to must be a URL'],
    [['forward', '--to', '-', '--cursor', 'c', '--from', 'first'], '--from must be latest or oldest'],
    [
      ['forward', '--to', '-', '--cursor', 'c', '--forward', 'http://127.0.0.1'],
      '"forward" takes no --forward',
    ],
    [['listen', '--forward', 'http://127.0.0.1', '--cursor', 'c'], '"listen" takes no --cursor'],
  ])('%j', async (args, words) => {
    const out = () => undefined;
    const surroundings = {
      env: settings(),
      out,
      write,
      error: (text: string) => (said += text),
      stop: stopping.signal,
    };
    expect(await run(args, surroundings)).toBe(2);
    expect(said).toContain(words);
  });

  it.each<[string, string]>([
    ['of another client', JSON.stringify({ url: 'x', client_id: CLIENT_ID, after: 'a' })],
    ['without a position', '{}'],
    ['that is cut off', '{"after":"a'],
    ['that is no object', 'null'],
  ])('a cursor %s, which stays as it is', async (_what, text) => {
    await writeFile(cursor, text);
    expect(await start('-')).toBe(2);
    expect([await readFile(cursor, 'utf8'), feed.asked]).toEqual([text, []]);
  });

  it('to go on with a gap: it ends with 1 where events after its position are not kept any more', async () => {
    void start('-');
    await waitsForEvents();
    await stop();
    const before = await position();
    feed.instead.push((response) =>
      response
        .writeHead(400, { 'content-type': 'application/problem+json' })
        .end(JSON.stringify({ status: 400, detail: 'x', field_errors: { after: ['is not kept'] } })),
    );
    expect(await start('-')).toBe(1);
    expect(said).toContain('are not kept any more');
    expect(await position()).toBe(before);
  });
});

describe('charging-data forward', () => {
  it('writes each event as one line of JSON, and nothing else, and goes on where it was', async () => {
    feed.publish('vehicle.created');
    void start('-');
    await waitsForEvents();
    // What was before its first start is not asked for.
    expect([written, await position()]).toEqual(['', feed.events[0]!.id]);
    feed.publish('vehicle.updated', 'vehicle.deleted');
    await waitsForEvents();
    await stop();
    feed.publish('vehicle.created');
    void start('-');
    await waitsForEvents();
    expect(idsWritten()).toEqual(allIds().slice(1));
    expect(
      written
        .split('\n')
        .slice(0, 3)
        .map((line) => JSON.parse(line) as object),
    ).toEqual(feed.events.slice(1));
    expect((await stat(cursor)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['cursor.json']);
    expect(said).not.toContain(CLIENT_SECRET);
  });

  it('begins with the oldest event that is kept if it is told to, but only without a cursor', async () => {
    feed.publish('vehicle.created');
    for (let n = 0; n < 2; n++) {
      void start('-', ['--from', 'oldest']);
      await waitsForEvents();
      await stop();
    }
    expect(idsWritten()).toEqual(allIds());
  });

  it('writes a page again whose end it does not know to be written', async () => {
    void start('-');
    await waitsForEvents();
    const before = await position();
    write = (text) => ((written += text.slice(0, 20)), Promise.reject(new Error('write EPIPE')));
    feed.publish('vehicle.created', 'vehicle.updated');
    expect(await ended).toBe(1);
    expect(await position()).toBe(before);
    write = (text) => Promise.resolve(void (written = text));
    void start('-');
    await waitsForEvents();
    expect(idsWritten()).toEqual(allIds());
  });

  it('posts each event until it is received, in their order, signed if it is given a secret', async () => {
    const received: { headers: IncomingMessage['headers']; body: string }[] = [];
    const answers = [500, 302, 204, 204];
    const app = await serve(({ headers }, response, body) => {
      received.push({ headers, body });
      response.writeHead(answers.shift() ?? 204, { location: 'http://127.0.0.1:1/' }).end();
    });
    void start(`${app.url}/hooks`, ['--signing-secret', SIGNING_SECRET]);
    await waitsForEvents();
    feed.publish('vehicle.created', 'vehicle.updated');
    await until('both are received', () => received.length === 4);
    await waitsForEvents();
    const [first, second] = allIds();
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual([first, first, first, second]);
    for (const { headers, body } of received)
      expect(new Webhook(SIGNING_SECRET).verify(body, headers as Record<string, string>)).toMatchObject({
        id: headers['webhook-id'],
      });
    await stop();
    void start(`${app.url}/hooks`);
    await waitsForEvents();
    feed.publish('vehicle.deleted');
    await until('the third is received', () => received.length === 5);
    expect(received[4]!.headers).toMatchObject({ 'webhook-id': allIds()[2] });
    expect(received[4]!.headers).not.toHaveProperty('webhook-signature');
    expect(written).toBe('');
    await app.stop();
  });

  it('loses nothing when it is killed at any moment, and repeats no more than what was under way', async () => {
    const ids: string[] = [];
    let kill: (() => void) | undefined;
    const app = await serve(({ headers }, response) => {
      ids.push(headers['webhook-id'] as string);
      // Before it is answered, or after.
      if (ids.length % 2 === 0) kill?.();
      response.writeHead(204).end(() => kill?.());
    });
    feed.publish(...Array.from({ length: 6 }, () => 'vehicle.updated'));
    const args = [
      'dist/packages/cli/src/main.js',
      'forward',
      '--to',
      app.url,
      '--cursor',
      cursor,
      '--from',
      'oldest',
    ];
    const startProcess = () => spawn(process.execPath, args, { env: settings(), stdio: 'ignore' });
    for (let kills = 0; kills < 5; kills++) {
      const child = startProcess();
      kill = () => child.kill('SIGKILL');
      expect(await once(child, 'close')).toEqual([null, 'SIGKILL']);
    }
    kill = undefined;
    const child = startProcess();
    await waitsForEvents();
    child.kill('SIGTERM');
    expect(await once(child, 'close')).toEqual([0, null]);
    expect([...new Set(ids)]).toEqual(allIds());
    // Each kill repeats one at most.
    expect(ids.length).toBeLessThanOrEqual(allIds().length + 5);
    expect(await position()).toBe(allIds().at(-1));
  });
});

describe('With a key, charging-data', () => {
  const keyFile = () => path.join(folder, 'key.json');
  const withKey = () => ['--dpop-key', keyFile()];
  let proofs: { url: string; claims: Record<string, unknown>; jkt: string }[];
  let nonce: string | undefined;

  beforeEach(() => {
    [proofs, nonce, feed.tokenType] = [[], undefined, 'DPoP'];
    const asked: { request: IncomingMessage; proof: string }[] = [];
    feed.look = (request) => {
      const proof = request.headers.dpop as string;
      asked.push({ request, proof });
      checks.push(
        jwtVerify(proof, EmbeddedJWK, { typ: 'dpop+jwt', algorithms: ['ES256'] }).then(
          async ({ payload, protectedHeader: { jwk } }) => {
            expect(Object.keys(jwk as JWK).sort()).toEqual(['crv', 'kty', 'x', 'y']);
            proofs.push({
              url: request.url!,
              claims: payload,
              jkt: await calculateJwkThumbprint(jwk as JWK),
            });
          },
        ),
      );
      const [, claims] = proof.split('.');
      const sent = JSON.parse(Buffer.from(claims!, 'base64url').toString()) as { nonce?: string };
      if (nonce === undefined || sent.nonce === nonce) return undefined;
      const status = request.url === '/o/token' ? 400 : 401;
      return { status, body: { error: 'use_dpop_nonce' }, headers: { 'dpop-nonce': nonce } };
    };
  });
  let checks: Promise<void>[] = [];
  afterEach(() => (checks = []));

  it('makes it once, for its owner only, and proves it with every request', async () => {
    void start('-', withKey());
    await waitsForEvents();
    feed.publish('vehicle.created');
    await waitsForEvents();
    await stop();
    const key = await readFile(keyFile(), 'utf8');
    expect((await stat(keyFile())).mode & 0o777).toBe(0o600);
    void start('-', [], { CHARGING_DATA_DPOP_KEY: keyFile() });
    await waitsForEvents();
    await Promise.all(checks);
    expect(await readFile(keyFile(), 'utf8')).toBe(key);
    expect(idsWritten()).toEqual(allIds());
    const { kty, crv, x, y } = JSON.parse(key) as JWK;
    expect(new Set(proofs.map(({ jkt }) => jkt))).toEqual(
      new Set([await calculateJwkThumbprint({ kty, crv, x, y })]),
    );
    expect(new Set(proofs.map(({ claims }) => claims.jti)).size).toBe(proofs.length);
    for (const { url, claims } of proofs) {
      const isToken = url === '/o/token';
      expect(claims).toMatchObject({
        htm: isToken ? 'POST' : 'GET',
        htu: service.url + (isToken ? '/o/token' : '/v2/events'),
        iat: expect.any(Number) as number,
      });
      const issued = feed.tokens.map((token) => hash('sha256', token, 'base64url'));
      if (isToken) expect(claims).not.toHaveProperty('ath');
      else expect(issued).toContain(claims.ath);
    }
    expect(said + written).not.toContain((JSON.parse(key) as { d: string }).d);
  });

  it('repeats a request at once with the nonce that the service asks for', async () => {
    nonce = 'first';
    void start('-', withKey());
    await waitsForEvents();
    nonce = 'second';
    feed.publish('vehicle.created');
    await waitsForEvents();
    await Promise.all(checks);
    expect(idsWritten()).toEqual(allIds());
    expect(proofs.map(({ url, claims }) => [url.split('?')[0], claims.nonce])).toEqual([
      ['/o/token', undefined],
      ['/o/token', 'first'],
      ['/v2/events', 'first'],
      ['/v2/events', 'first'],
      ['/v2/events', 'first'],
      ['/v2/events', 'second'],
    ]);
    expect(said).not.toContain('Trying again');
  });

  it('refuses a token that is not bound, and sends it nowhere', async () => {
    feed.tokenType = 'Bearer';
    expect(await start('-', withKey())).toBe(1);
    expect(said).toContain('does not bind tokens to a key');
    expect(feed.asked).toEqual([]);
  });

  it('refuses a file that others may read, and one that is no such key', async () => {
    await writeFile(keyFile(), '{"kty":"oct","k":"c2VjcmV0LXZhbHVl"}', { mode: 0o600 });
    expect(await start('-', withKey())).toBe(2);
    expect(said).toContain('holds no private key on P-256');
    await chmod(keyFile(), 0o644);
    expect(await start('-', withKey())).toBe(2);
    expect(said).toContain('chmod 600');
    expect(said).not.toContain('c2VjcmV0LXZhbHVl');
  });
});
