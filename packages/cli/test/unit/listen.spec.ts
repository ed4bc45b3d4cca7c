import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { until } from '../../../../test/support/until.js';
import { run } from '../../src/cli.js';
import { FIRST_PAGE, PassingError, Service } from '../../src/service.js';
import { Feed, serve } from './feed.js';

const CLIENT_ID = 'clnt01HN2NJ9NMRZBXT1H6FT9N7735';
const CLIENT_SECRET = 'cds_cs_not-to-be-shown';
const SIGNING_SECRET = `whsec_${Buffer.alloc(32, 's').toString('base64')}`;

describe('charging-data listen', () => {
  let feed: Feed;
  let service: { url: string; stop: () => Promise<void> };
  let app: { url: string; stop: () => Promise<void> };
  let received: { headers: IncomingMessage['headers']; body: string }[];
  let answerOfApp: number;
  let printed: string;
  let stopping: AbortController;
  let ended: Promise<number> | undefined;

  beforeEach(async () => {
    [printed, received, answerOfApp, stopping] = ['', [], 204, new AbortController()];
    feed = new Feed();
    service = await serve(feed.handle);
    feed.url = service.url;
    app = await serve(({ headers }, response, body) => {
      received.push({ headers, body });
      response.writeHead(answerOfApp).end();
    });
  });
  afterEach(async () => {
    stopping.abort();
    await ended;
    ended = undefined;
    await Promise.all([service.stop(), app.stop()]);
  });

  const settings = () => ({
    CHARGING_DATA_URL: service.url,
    CHARGING_DATA_CLIENT_ID: CLIENT_ID,
    CHARGING_DATA_CLIENT_SECRET: CLIENT_SECRET,
  });
  const start = (args: string[] = [], env: NodeJS.ProcessEnv = {}): Promise<number> =>
    (ended = run(['listen', '--forward', `${app.url}/hooks`, ...args], {
      env: { ...settings(), ...env },
      out: (text) => (printed += text),
      write: () => Promise.reject(new Error('listen writes nothing')),
      error: (text) => (printed += text),
      stop: stopping.signal,
    }));
  const waitsForEvents = () => until('it waits for events', () => feed.isAwaited);
  const lines = () => printed.split('\n').filter((line) => /^\d\d:\d\d:\d\d {2}/.test(line));

  it('forwards each event in order, signed with the secret that it prints, and shows what came back', async () => {
    void start();
    await waitsForEvents();
    expect(feed.asked).toEqual(['?after=latest', '?after=the-beginning&wait=20']);
    feed.publish('vehicle.created', 'vehicle.updated');
    await until('both are forwarded', () => lines().length === 2);
    answerOfApp = 500;
    feed.publish('vehicle.deleted');
    await until('the third is too', () => lines().length === 3);
    expect(received.map(({ headers }) => headers['webhook-event-type'])).toEqual([
      'vehicle.created',
      'vehicle.updated',
      'vehicle.deleted',
    ]);
    const [, secret] = /^Signing secret: (whsec_\S+)$/m.exec(printed)!;
    for (const [n, { headers, body }] of received.entries()) {
      expect(new Webhook(secret!).verify(body, headers as Record<string, string>)).toEqual(feed.events[n]);
      expect(headers['webhook-id']).toBe(feed.events[n]!.id);
    }
    expect(lines()[0]).toMatch(/vehicle\.created {2}evnt0+1 {2}204 No Content {2}\d+ ms$/);
    expect(lines()[2]).toMatch(/vehicle\.deleted {2}evnt0+3 {2}500 Internal Server Error {2}\d+ ms$/);
    // It goes on where the answer ended, at the address that it was given.
    expect(feed.asked[2]).toBe(`?after=${feed.events[1]!.id}&wait=20`);
    expect(printed).not.toContain(CLIENT_SECRET);
  });

  it('follows no link to another origin, however that is written', async () => {
    const strangers: (string | undefined)[] = [];
    const stranger = await serve(({ url, headers }, response) => {
      strangers.push(`${url} ${headers.authorization}`);
      response.writeHead(200, { 'content-type': 'application/json' }).end('[]');
    });
    const host = new URL(stranger.url).host;
    void start();
    await waitsForEvents();
    const links = [
      `${stranger.url}/v2/events?after=a`,
      `//${host}/v2/events?after=b`,
      `${service.url}//${host}/v2/events?after=c`,
      `${service.url}/\\\\${host}/v2/events?after=d`,
    ];
    for (const link of links) {
      feed.instead.push((response) =>
        response
          .writeHead(200, { 'content-type': 'application/json', link: `<${link}>; rel="next"` })
          .end('[]'),
      );
    }
    feed.cut();
    const after = (each: string) => new URLSearchParams(each).get('after')!;
    await until('all are asked for here', () =>
      'abcd'.split('').every((each) => feed.asked.map(after).includes(each)),
    );
    expect(strangers).toEqual([]);
    await stranger.stop();
  });

  it('ends with 0 when it is told to, also while it waits', async () => {
    const running = start();
    await waitsForEvents();
    stopping.abort();
    expect(await running).toBe(0);
  });

  it('signs with the secret that it was given, and does not print it', async () => {
    void start(['--signing-secret', SIGNING_SECRET]);
    await waitsForEvents();
    feed.publish('vehicle.created');
    await until('it is forwarded', () => lines().length === 1);
    const [{ headers, body }] = received as [(typeof received)[0]];
    expect(new Webhook(SIGNING_SECRET).verify(body, headers as Record<string, string>)).toEqual(
      feed.events[0],
    );
    expect(printed).not.toContain('whsec_');
  });

  it('shows what happens after it has begun, also while its first wait fails', async () => {
    void start();
    await waitsForEvents();
    feed.cut();
    feed.publish('vehicle.created');
    await until('it is forwarded', () => lines().length === 1);
    expect(received.map(({ headers }) => headers['webhook-id'])).toEqual([feed.events[0]!.id]);
  });

  it('gets a new token, and comes back after failures, without losing an event', async () => {
    void start();
    await waitsForEvents();
    feed.publish('vehicle.created');
    await until('one is forwarded', () => lines().length === 1);
    feed.instead.push(
      (response) => response.writeHead(401).end('{}'),
      (response) => response.destroy(),
      (response) => response.writeHead(503, { 'retry-after': '0' }).end('{}'),
      (response) => response.writeHead(429, { 'retry-after': '0' }).end('{}'),
      (response) => response.writeHead(408, { 'retry-after': '0' }).end('{}'),
    );
    feed.publish('vehicle.updated', 'vehicle.deleted');
    await until('the others are forwarded', () => lines().length === 3);
    feed.publish('vehicle.created');
    await until('the last too', () => lines().length === 4);
    expect(received).toHaveLength(4);
    expect(feed.tokens.length).toBeGreaterThan(1);
    expect(printed).toContain('Trying again: ');
  });

  it.each<[string, number | undefined]>([
    ['60', 60_000],
    ['0', 0],
    // An hour at most.
    ['2592000', 3_600_000],
    ['9'.repeat(30), 3_600_000],
    // As long as after any other failure.
    ['-1', undefined],
    ['', undefined],
    ['Fri, 27 Nov 2026 12:00:00 GMT', undefined],
  ])('asks again after %j seconds of Retry-After: %j ms, also if the answer is null', async (header, ms) => {
    feed.instead.push((response) => response.writeHead(503, { 'retry-after': header }).end('null'));
    const { url } = service;
    const reading = new Service({
      url,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
    });
    const error = await reading.read(FIRST_PAGE, stopping.signal).catch((refused: unknown) => refused);
    expect(error).toBeInstanceOf(PassingError);
    expect((error as PassingError).retryAfterMs).toBe(ms);
  });

  it('asks again for a token where the answer is null', async () => {
    feed.refuseToken = { status: 200, body: null };
    void start();
    await until('it says so', () => printed.includes('Trying again: '));
    expect(printed).toContain('the answer of the token endpoint has no token');
    feed.refuseToken = undefined;
    await waitsForEvents();
  });

  it('goes on with what is new where events are not kept any more', async () => {
    void start();
    await waitsForEvents();
    feed.instead.push((response) =>
      response
        .writeHead(400, { 'content-type': 'application/problem+json' })
        .end(JSON.stringify({ status: 400, detail: 'x', field_errors: { after: ['is not kept'] } })),
    );
    feed.publish('vehicle.created');
    await until('it says so', () => printed.includes('not kept any more'));
    await until(
      'it waits again',
      () => feed.isAwaited && feed.asked.filter((query) => query === '?after=latest').length === 2,
    );
    feed.publish('vehicle.updated');
    await until('the next is forwarded', () => lines().length === 2);
  });

  it('says why nothing answers, and leaves no control characters of others in its lines', async () => {
    await app.stop();
    void start();
    await waitsForEvents();
    feed.publish('vehicle.\u001b[2Jcreated');
    await until('it says so', () => lines().length === 1);
    expect(lines()[0]).toMatch(/vehicle\.\ufffd\[2Jcreated {2}evnt0+1 {2}no answer: \S+ {2}\d+ ms$/);
    app = await serve(() => undefined);
  });

  it.each<[string, number, object, string]>([
    [
      'wrong credentials',
      401,
      { error: 'invalid_client', error_description: 'Unknown client.' },
      'Unknown client.',
    ],
    [
      'a reason that would control the terminal',
      403,
      { detail: 'Not\u001b[2J\r\nhere.' },
      '403: Not\ufffd[2J\ufffd\ufffdhere.',
    ],
    ['a client without the grant', 400, { error: 'unauthorized_client' }, 'the service answered 400'],
  ])('ends with 1 for %s, without showing them', async (_what, status, body, words) => {
    feed.refuseToken = { status, body };
    expect(await start()).toBe(1);
    expect(printed).toContain(words);
    expect(printed).not.toContain(CLIENT_SECRET);
  });

  it.each<[string[], NodeJS.ProcessEnv, string]>([
    [[], { CHARGING_DATA_URL: '' }, 'Give --url or set CHARGING_DATA_URL'],
    [[], { CHARGING_DATA_URL: 'http://auth.example.com' }, 'must be https'],
    [[], { CHARGING_DATA_CLIENT_SECRET: '' }, 'Give --client-secret or set'],
    [['--forward', 'hooks'], {}, '--forward must be a URL'],
    [
      ['--forward', 'http://u:p@127.0.0.1/'],
      {},
      '--forward must be an http or https URL without credentials',
    ],
    [['--signing-secret', 'secret-that-is-wrong'], {}, '--signing-secret must be whsec_'],
    [['--loud'], {}, "Unknown option '--loud'"],
    [['again'], {}, 'The commands are "listen" and "forward"'],
  ])('refuses %j with %j', async (args, env, words) => {
    expect(await start(args, env)).toBe(2);
    expect(printed).toContain(words);
    expect(printed).not.toMatch(/cds_cs_|secret-that-is-wrong|u:p/);
  });

  it('ends without a word when whoever reads its lines has left', async () => {
    const args = ['dist/packages/cli/src/main.js', 'listen', '--forward', app.url];
    const child = spawn(process.execPath, args, { env: settings(), stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let complaints = '';
    child.stderr.on('data', (text) => (complaints += String(text)));
    expect([await once(child, 'close'), complaints]).toEqual([[0, null], '']);
  });

  it('explains itself', async () => {
    expect(await start(['--help'])).toBe(0);
    expect(printed).toContain('charging-data listen --forward <url>');
  });
});
