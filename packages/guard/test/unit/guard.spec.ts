import { ClientRequest } from 'node:http';
import { holdClock, putClockForward } from '../../../../test/support/clock.js';
import { until } from '../../../../test/support/until.js';
import { RecentChanges } from '../../src/changes.js';
import { AccessGuard, AccessRefusal, type GuardOptions } from '../../src/index.js';
import { active, CLIENT, StandIn, TOKEN, USER } from './stand-in.js';

const SECRET = 'cds_cs_the-secret-of-the-guard';

let service: StandIn;
let guard: AccessGuard;
let warnings: string[];
/** The changes that the guard has heard of. */
let heard: jest.SpyInstance;
let goOn: () => void;
/** The time of day, which stands still as the process's clock does: one of them alone goes on where a test says so. */
let timeOfDay: number;

beforeEach(async () => {
  warnings = [];
  heard = jest.spyOn(RecentChanges.prototype, 'add');
  // The feed is silent for as long as this process is held up: that is no silence of the service.
  jest.spyOn(ClientRequest.prototype, 'setTimeout').mockReturnThis();
  // The guard's seconds pass only where a test says so.
  goOn = holdClock();
  timeOfDay = Date.now();
  jest.spyOn(Date, 'now').mockImplementation(() => timeOfDay);
  service = await StandIn.start();
});
afterEach(async () => {
  await guard.close();
  await service.stop();
  goOn();
  jest.restoreAllMocks();
});

const usual = (): GuardOptions => ({
  url: service.url,
  clientId: CLIENT,
  clientSecret: SECRET,
  resource: 'https://data.example.com',
  // The longest there is: it only ends a hang.
  timeoutMs: 60_000,
  onWarning: (message) => warnings.push(message),
});
const make = (options: Partial<GuardOptions> = {}): AccessGuard =>
  (guard = new AccessGuard({ ...usual(), ...options }));

/** A guard that follows the changes, and has caught up. */
async function following(options: Partial<GuardOptions> = {}): Promise<AccessGuard> {
  make(options).start();
  await until('it asks for the feed', () => service.feeds.length > 0);
  service.feed.write(': 1.1\nid: 1.1\n\n');
  await until('it follows', () => guard.statistics.isFollowingChanges);
  return guard;
}
async function tell(data: object): Promise<void> {
  const { length } = heard.mock.calls;
  // Later than what was asked before.
  putClockForward(0.001);
  service.feed.write(`event: change\nid: 1.2\ndata: ${JSON.stringify(data)}\n\n`);
  await until('the guard has heard it', () => heard.mock.calls.length > length);
}
const refusalOf = (asked: Promise<unknown>): Promise<AccessRefusal> =>
  asked.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: unknown) => {
      if (error instanceof AccessRefusal) return error;
      throw error;
    },
  );
const letSettle = () => putClockForward(0.25);

describe('The guard refuses', () => {
  const bearer = `Bearer ${TOKEN}`;

  it.each([
    ['without a header', { authorization: undefined }, 401, 'Bearer resource_metadata='],
    ['with another scheme', { authorization: 'Basic eDp5' }, 401, 'Bearer resource_metadata='],
    ['with two tokens', { authorization: 'Bearer a b' }, 401, 'error="invalid_token"'],
    ['with characters that no token has', { authorization: 'Bearer "' }, 401, 'error="invalid_token"'],
    [
      'with a token that is too long for a body of the service',
      { authorization: `Bearer a${'='.repeat(65_536)}` },
      401,
      'error="invalid_token"',
    ],
    [
      'with a token in the query string',
      { authorization: undefined, url: '/?access_token=x' },
      401,
      'Bearer resource',
    ],
    [
      'with two ways of sending it',
      { authorization: bearer, url: '/?access_token=x' },
      400,
      'invalid_request',
    ],
  ])('a request %s, without asking', async (_what, request, status, challenge) => {
    make({ followChanges: false });
    const refusal = await refusalOf(guard.authorize(request));
    expect(refusal.status).toBe(status);
    expect(refusal.headers['www-authenticate']).toContain(challenge);
    expect(refusal.headers['www-authenticate']).toContain(
      'resource_metadata="https://data.example.com/.well-known/oauth-protected-resource"',
    );
    expect(JSON.parse(refusal.body)).toEqual({
      status,
      title: expect.any(String),
      detail: expect.any(String),
    });
    expect(service.asked).toEqual([]);
  });

  it('a token that is not valid, one without the scope, and one that may do nothing with the user', async () => {
    make({ followChanges: false });
    service.introspect = (form) => ({
      status: 200,
      body:
        form.get('token') === 'ended' ? { active: false } : active(form.has('user_id') ? { scope: '' } : {}),
    });
    const ended = await refusalOf(guard.authorize({ authorization: 'Bearer ended' }));
    const narrow = await refusalOf(
      guard.authorize({ authorization: bearer }, { scopes: ['a:read', 'b:read'] }),
    );
    const nothing = await refusalOf(guard.authorize({ authorization: bearer }, { userId: USER }));
    const nobody = await refusalOf(guard.authorize({ authorization: bearer }, { userId: "' OR 1=1" }));
    expect([ended, narrow, nothing, nobody].map(({ status }) => status)).toEqual([401, 403, 403, 403]);
    expect(ended.headers['www-authenticate']).toContain('error="invalid_token"');
    expect(narrow.headers['www-authenticate']).toContain('error="insufficient_scope", scope="a:read b:read"');
    // What is no id of a user is not sent.
    expect(service.asked.filter((form) => form.get('user_id')?.includes('OR'))).toEqual([]);
  });

  it('a token that is for other resources only (RFC 8707), also from memory', async () => {
    const resources = ['https://data.example.com', 'https://data.example.com/'];
    make({ followChanges: false });
    const isValid = async (aud: unknown) => {
      const token = JSON.stringify(aud);
      const asked = [await guard.scopesFor(btoa(token)), await guard.scopesFor(btoa(token))];
      return asked.map((access) => access !== undefined);
    };
    service.introspect = (form) => ({
      status: 200,
      body: active({ aud: JSON.parse(atob(form.get('token')!)) as unknown }),
    });
    for (const aud of [...['https://other.example', ''], [], ['https://other.example'], null, 7]) {
      expect([aud, await isValid(aud)]).toEqual([aud, [false, false]]);
    }
    for (const aud of [...resources, resources, ['https://other.example', resources[0]]]) {
      expect([aud, await isValid(aud)]).toEqual([aud, [true, true]]);
    }
    // Each was asked for once, and then answered from memory.
    expect(service.asked).toHaveLength(10);
  });

  it.each<[string, Partial<GuardOptions>]>([
    ['url must be https', { url: 'http://auth.example.com' }],
    ['url must be without a path', { url: 'https://auth.example.com/x' }],
    ['url must be a URL', { url: 'auth' }],
    ['resource must be an http', { resource: 'urn:data' }],
    ['clientSecret is required', { clientSecret: '' }],
    ['rememberMs must be 0 to 1000', { rememberMs: 1_001 }],
  ])('an option: %s', (words, options) => {
    make();
    expect(() => new AccessGuard({ ...usual(), ...options })).toThrow(words);
  });
});

describe('The guard fails closed', () => {
  it.each<[string, () => { status: number; body: unknown } | Promise<never>]>([
    ['500', () => ({ status: 500, body: {} })],
    ['401', () => ({ status: 401, body: { error: 'invalid_client' } })],
    ['a redirect', () => ({ status: 302, body: active() })],
    ['no JSON object', () => ({ status: 200, body: 'active' })],
    ['no scope', () => ({ status: 200, body: active({ scope: undefined }) })],
    ['active as a word', () => ({ status: 200, body: active({ active: 'true' }) })],
    ['too much', () => ({ status: 200, body: active({ more: 'x'.repeat(70_000) }) })],
    ['nothing in time', () => new Promise<never>(() => undefined)],
  ])('with 503 when the service answers %s', async (_what, answer) => {
    make({ followChanges: false, timeoutMs: 300 });
    service.introspect = answer;
    const refusal = await refusalOf(guard.authorize({ authorization: `Bearer ${TOKEN}` }));
    expect([refusal.status, refusal.headers['retry-after']]).toEqual([503, '1']);
    expect(refusal.headers['www-authenticate']).toBeUndefined();
  });

  it('spares a service that fails, says so once without its secret, and recovers by itself', async () => {
    make({ followChanges: false });
    service.introspect = () => ({ status: 500, body: {} });
    for (let n = 0; n < 8; n++) {
      expect((await refusalOf(guard.scopesFor(`token${n}`))).status).toBe(503);
    }
    expect([service.asked.length, warnings.length]).toEqual([5, 1]);
    expect(warnings.join()).not.toContain(SECRET);
    service.introspect = () => ({ status: 200, body: active() });
    putClockForward(1.1);
    await until('it asks again', () =>
      guard.scopesFor('token').then(
        () => true,
        () => false,
      ),
    );
    expect(warnings).toHaveLength(2);
  });

  it('when more wait than it was told to allow', async () => {
    make({ followChanges: false, maxWaiting: 1 });
    let answer!: () => void;
    service.introspect = () =>
      new Promise((resolve) => (answer = () => resolve({ status: 200, body: active() })));
    const first = guard.scopesFor('first');
    await until('the first is asked', () => service.asked.length === 1);
    expect((await refusalOf(guard.scopesFor('second'))).status).toBe(503);
    answer();
    expect((await first)?.scopes).toEqual(['vehicle:read']);
  });
});

describe('The guard asks', () => {
  it('once for the same token and user at a time, with its credentials, over few connections', async () => {
    make({ followChanges: false, maxConnections: 2, rememberMs: 0 });
    const all = await Promise.all(Array.from({ length: 20 }, () => guard.scopesFor(TOKEN, USER)));
    expect(new Set(all.map((access) => access?.scopes.join()))).toEqual(new Set(['vehicle:read']));
    expect([service.asked.length, guard.statistics.joined]).toEqual([1, 19]);
    for (let n = 0; n < 10; n++) await guard.scopesFor(`token${n}`);
    expect(service.connections.size).toBeLessThanOrEqual(2);
  });

  it('again for another user, and separately for the token alone', async () => {
    make({ followChanges: false });
    await guard.scopesFor(TOKEN, USER);
    await guard.scopesFor(TOKEN, USER.replace('7735', '7736'));
    await guard.scopesFor(TOKEN);
    expect(service.asked.map((form) => form.get('user_id'))).toEqual([
      USER,
      USER.replace('7735', '7736'),
      null,
    ]);
  });

  it('again after a second, or when the token has ended, while it does not follow the changes', async () => {
    make({ followChanges: false });
    await guard.scopesFor(TOKEN);
    await guard.scopesFor(TOKEN);
    expect(service.asked).toHaveLength(1);
    putClockForward(1.1);
    service.introspect = () => ({ status: 200, body: active({ exp: Math.floor(Date.now() / 1000) + 1 }) });
    await guard.scopesFor(TOKEN);
    await guard.scopesFor(TOKEN);
    expect(service.asked).toHaveLength(3);
  });
});

describe('While it follows the changes, the guard', () => {
  it('remembers for longer than a second, until a change concerns it', async () => {
    await following();
    await guard.scopesFor(TOKEN, USER);
    putClockForward(1.1);
    await guard.scopesFor(TOKEN, USER);
    await tell({ client_id: CLIENT.replace('7735', '7736') });
    await tell({ client_id: CLIENT, user_id: USER.replace('7735', '7736') });
    await guard.scopesFor(TOKEN, USER);
    expect(service.asked).toHaveLength(1);
    for (const change of [
      { client_id: CLIENT },
      { user_id: USER },
      { client_id: CLIENT, user_id: USER },
      {},
    ]) {
      await tell(change);
      letSettle();
      await guard.scopesFor(TOKEN, USER);
      await guard.scopesFor(TOKEN, USER);
    }
    expect(service.asked).toHaveLength(5);
  });

  it('remembers for a second only what may become more: nothing allowed, or no valid token', async () => {
    await following();
    service.introspect = (form) => ({
      status: 200,
      body: form.get('token') === 'ended' ? { active: false } : active({ scope: '' }),
    });
    for (const token of ['ended', TOKEN, 'ended', TOKEN]) await guard.scopesFor(token, USER);
    expect(service.asked).toHaveLength(2);
    putClockForward(1.1);
    for (const token of ['ended', TOKEN]) await guard.scopesFor(token, USER);
    expect(service.asked).toHaveLength(4);
  });

  it('does not remember an answer that a change overtook, nor lets later requests wait for it', async () => {
    await following();
    const answers: (() => void)[] = [];
    service.introspect = () =>
      new Promise((resolve) => answers.push(() => resolve({ status: 200, body: active() })));
    const before = guard.scopesFor(TOKEN, USER);
    await until('it is asked', () => answers.length === 1);
    await tell({ client_id: CLIENT });
    service.introspect = () => ({ status: 200, body: { active: false } });
    expect(await guard.scopesFor(TOKEN, USER)).toBeUndefined();
    answers[0]!();
    await before;
    expect(await guard.scopesFor(TOKEN, USER)).toBeUndefined();
  });

  it('lets no later request wait for what was asked for right after a change, once other instances know it', async () => {
    await following();
    await tell({ client_id: CLIENT });
    const answers: (() => void)[] = [];
    service.introspect = () =>
      new Promise((resolve) => answers.push(() => resolve({ status: 200, body: active() })));
    const before = [guard.scopesFor(TOKEN, USER), guard.scopesFor(TOKEN, USER)];
    await until('it is asked', () => answers.length === 1);
    letSettle();
    service.introspect = () => ({ status: 200, body: { active: false } });
    expect(await guard.scopesFor(TOKEN, USER)).toBeUndefined();
    answers[0]!();
    await Promise.all(before);
    expect([service.asked.length, guard.statistics.joined]).toEqual([2, 1]);
  });

  it('does not remember what was asked for right after a change, which other instances may not know yet', async () => {
    await following();
    await tell({ client_id: CLIENT });
    await guard.scopesFor(TOKEN, USER);
    await guard.scopesFor(TOKEN, USER);
    expect(service.asked).toHaveLength(2);
  });

  it('remembers an answer about others although something else has just changed', async () => {
    await following();
    await tell({ client_id: CLIENT.replace('7735', '7736') });
    await guard.scopesFor(TOKEN, USER);
    await guard.scopesFor(TOKEN, USER);
    expect(service.asked).toHaveLength(1);
  });

  it('forgets everything with a reset, or with an event that it does not understand', async () => {
    await following();
    for (const text of ['event: reset\nid: 9.9\ndata: {}\n\n', 'event: change\nid: 9.9\ndata: x\n\n']) {
      await guard.scopesFor(TOKEN, USER);
      service.feed.write(text);
      await until('it has forgotten', () => guard.statistics.remembered === 0);
      letSettle();
    }
  });

  it('remembers nothing from before the machine slept, although the clock that times its memory stood still', async () => {
    await following();
    await guard.scopesFor(TOKEN, USER);
    timeOfDay += 3_600_000;
    await guard.scopesFor(TOKEN, USER);
    expect(service.asked).toHaveLength(2);
    letSettle();
    // From now on it remembers again, also when the time of day is put back.
    for (const change of [0, 500, -3_600_000, 500]) {
      timeOfDay += change;
      await guard.scopesFor(TOKEN, USER);
    }
    expect(service.asked).toHaveLength(3);
  });

  it('remembers no more than it was told to, and invented tokens do not crowd out valid ones', async () => {
    await following({ maxRemembered: 20 });
    await guard.scopesFor(TOKEN, USER);
    service.introspect = () => ({ status: 200, body: { active: false } });
    for (let n = 0; n < 100; n++) await guard.scopesFor(`invented${n}`);
    expect(guard.statistics.remembered).toBeLessThanOrEqual(3);
    expect((await guard.scopesFor(TOKEN, USER))?.scopes).toEqual(['vehicle:read']);
  });
});

describe('When the feed breaks, the guard', () => {
  it('trusts its memory for a second only, resumes after the last position, and trusts it again once it has caught up', async () => {
    await following();
    await guard.scopesFor(TOKEN, USER);
    await tell({ client_id: CLIENT.replace('7735', '7736') });
    service.feed.destroy();
    await until('it is back', () => service.feeds.length === 2);
    expect(service.feeds[1]!.request.headers['last-event-id']).toBe('1.2');
    putClockForward(1.1);
    expect(guard.statistics.isFollowingChanges).toBe(false);
    // What it missed is told before the comment that says that nothing else was missed.
    service.feed.write('id: 1.3\nevent: change\ndata: {"user_id":"user2"}\n\n: 1.3\nid: 1.3\n\n');
    await until('it follows', () => guard.statistics.isFollowingChanges);
    await guard.scopesFor(TOKEN, USER);
    expect(service.asked).toHaveLength(1);
  });

  it('asks again after a second while it cannot be followed, and never remembers such an answer for longer', async () => {
    service.hasFeed = false;
    make().start();
    await until('it says so', () => warnings.length === 1);
    await guard.scopesFor(TOKEN, USER);
    service.hasFeed = true;
    await until('it asks for the feed', () => service.feeds.length > 0);
    service.feed.write(': 1.1\nid: 1.1\n\n');
    await until('it follows', () => guard.statistics.isFollowingChanges);
    putClockForward(1.1);
    await guard.scopesFor(TOKEN, USER);
    expect([service.asked.length, warnings.length]).toEqual([2, 2]);
    expect(warnings.join()).not.toContain(SECRET);
  });

  it('says that even a new token is refused, tries with others, and says when that is over', async () => {
    service.hasFeed = false;
    service.feedRefusal = 401;
    make().start();
    await until('it says so', () => warnings.length === 1);
    expect(warnings[0]).toMatch(/the feed of changes was answered with 401$/);
    const { tokens } = service;
    await until('it has got another token', () => service.tokens > tokens);
    service.hasFeed = true;
    await until('it asks for the feed', () => service.feeds.length > 0);
    service.feed.write(': 1.1\nid: 1.1\n\n');
    await until('it says that this is over', () => warnings.length === 2);
  });
});

describe('The metadata', () => {
  it.each([
    ['https://data.example.com', '/.well-known/oauth-protected-resource', 'https://data.example.com'],
    ['https://example.com/data', '/.well-known/oauth-protected-resource/data', 'https://example.com/data'],
  ])('of %s is at %s', (resource, path, written) => {
    make({ resource, scopesSupported: ['vehicle:read'], resourceName: 'Data' });
    expect(guard.metadataPath).toBe(path);
    expect(guard.metadata).toEqual({
      resource: written,
      authorization_servers: [service.url],
      bearer_methods_supported: ['header'],
      scopes_supported: ['vehicle:read'],
      resource_name: 'Data',
    });
  });
});
