import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SHELVES } from '#entrypoints/api-docs/handbook/catalogue.js';
import type { Method } from '#entrypoints/api-docs/openapi.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { breakOff } from '../support/break-off.js';
import { gapInFeed } from '../support/event-feed.js';
import type { JwkSet } from '#access/clients/keys/jwk-set.js';
import { newPkce, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { freePort } from '../support/free-port.js';
import { isAccepted, madeOnce, until, useService, WEBHOOK_ENV, Webhooks } from '../support/spec.js';
import { committedDocument } from '../support/openapi-document.js';
import { describeUnless } from '../support/left-out.js';
import { LACKING, PagePrograms } from '../support/page-programs.js';

/** Whether this build has the operation. */
const has = (method: Method, address: string): boolean =>
  committedDocument.paths[address]?.[method] !== undefined;

const service = useService({ env: WEBHOOK_ENV });

const LATER = { timestamp: '2100-01-01T00:00:00Z' };

describe('The programs in the guides', () => {
  let client: TestClient;
  let user: UserEntity;
  const opened: PagePrograms[] = [];
  const run = new Set<string>();
  beforeAll(async () => {
    client = await service.make.client();
    user = await service.make.user();
    await service.make.consent(client, user);
  });
  afterAll(() => Promise.all(opened.map((each) => each.remove())));

  const pageOf = async (slug: string): Promise<PagePrograms> => {
    const programs = await PagePrograms.of(service.http, `/docs/guides/${slug}`);
    opened.push(programs);
    return programs;
  };
  const settings = () => ({ CLIENT_ID: client.id, CLIENT_SECRET: client.secret, REDIRECT_URI });

  /** Runs a program until it ends well, and returns what it wrote. */
  const outputOf = async (of: PagePrograms, file: string, more: Record<string, string> = {}) => {
    run.add(file);
    const { code, lines, err } = await of.start(file, { ...settings(), ...more }).end();
    expect({ file, code, err }).toEqual({ file, code: 0, err: '' });
    return lines.join('\n');
  };

  it('get a first token and call the API, with curl, Node.js and Python', async () => {
    const programs = await pageOf('first-token');
    const refused = programs.start('token.sh', { ...settings(), CLIENT_SECRET: 'wrong' });
    expect(await refused.end()).toMatchObject({
      lines: [expect.stringContaining('invalid_client')],
    });
    const { access_token: token } = JSON.parse(await outputOf(programs, 'token.sh')) as {
      access_token: string;
    };
    const users = [expect.objectContaining({ id: user.id })];
    expect(JSON.parse(await outputOf(programs, 'users.sh', { ACCESS_TOKEN: token }))).toEqual(users);
    for (const file of ['token.mjs', 'get_token.py'])
      expect(JSON.parse(await outputOf(programs, file))).toMatchObject({ token_type: 'Bearer' });
    for (const file of ['first-token.mjs', 'first_token.py']) {
      const [, status, body] = /^(\d+) (.*)$/s.exec(await outputOf(programs, file))!;
      expect([file, status, JSON.parse(body!)]).toEqual([file, '200', users]);
    }
  });

  /** Sends a user away with the program of the guide, and returns what it keeps and where the browser came back to. */
  const sentToUs = async (programs: PagePrograms) => {
    const browser = await service.make.signedIn(user);
    run.add('pkce.sh');
    await writeFile(path.join(programs.folder, 'try.sh'), '. ./pkce.sh\necho "$STATE"\necho "$VERIFIER"');
    const [sent, STATE, VERIFIER] = (await outputOf(programs, 'try.sh')).split('\n');
    const cameTo = await browser.authorize(Object.fromEntries(new URL(sent!).searchParams));
    return { STATE: STATE!, VERIFIER: VERIFIER!, CAME_BACK: cameTo.href };
  };

  it('exchange a code with Node.js and Python, if it answers their request', async () => {
    const programs = await pageOf('on-behalf-of-a-user');
    for (const file of ['exchange.mjs', 'exchange.py']) {
      const given = { ...settings(), ...(await sentToUs(programs)) };
      const refused = [
        { ...given, STATE: 'other' },
        { ...given, CAME_BACK: given.CAME_BACK.replace(/iss=[^&]*/, 'iss=https%3A%2F%2Felsewhere.example') },
        { ...given, CAME_BACK: `${given.CAME_BACK}&error=access_denied` },
      ];
      for (const wrong of refused) expect((await programs.start(file, wrong).end()).code).toBe(1);
      expect(JSON.parse(await outputOf(programs, file, given))).toHaveProperty('refresh_token');
    }
  });

  it('act on behalf of a user with curl: PKCE, the exchange, the user, the refresh and the end', async () => {
    const programs = await pageOf('on-behalf-of-a-user');
    const tokens = JSON.parse(await outputOf(programs, 'exchange.sh', await sentToUs(programs))) as Record<
      string,
      string
    >;
    const me = await outputOf(programs, 'me.sh', { ACCESS_TOKEN: tokens.access_token! });
    expect(JSON.parse(me)).toMatchObject({ id: user.id });
    const fresh = JSON.parse(
      await outputOf(await pageOf('refresh'), 'refresh.sh', { REFRESH_TOKEN: tokens.refresh_token! }),
    ) as Record<string, string>;
    expect(await isAccepted(service.http, fresh.access_token!)).toBe(true);
    expect(await outputOf(programs, 'revoke.sh', { REFRESH_TOKEN: fresh.refresh_token! })).toBe('{}');
    expect(await isAccepted(service.http, fresh.access_token!)).toBe(false);
  });

  it('authenticate with a key, and push a request', async () => {
    const programs = await pageOf('client-with-keys');
    run.add('assertion.mjs');
    const jwks = JSON.parse(await outputOf(programs, 'new-key.mjs')) as JwkSet;
    const keyed = await service.make.client({ tokenEndpointAuthMethod: 'private_key_jwt', jwks });
    const given = { CLIENT_ID: keyed.id };
    const token = JSON.parse(await outputOf(programs, 'key-token.mjs', given)) as Record<string, string>;
    expect(await isAccepted(service.http, token.access_token!)).toBe(true);
    const { searchParams } = new URL(await outputOf(programs, 'push.mjs', given));
    const cameTo = await (await service.make.signedIn(user)).authorize(Object.fromEntries(searchParams));
    expect(cameTo.searchParams.has('code')).toBe(true);
    run.add('proof.mjs');
    expect(await outputOf(programs, 'bound-token.mjs', given)).toBe('DPoP 200');
    // A key that is there already is not overwritten.
    expect((await programs.start('new-key.mjs').end()).code).toBe(1);
  });

  it('refresh with Node.js and Python', async () => {
    const programs = await pageOf('refresh');
    for (const file of ['refresh-once.mjs', 'refresh_once.py']) {
      const { refresh_token: REFRESH_TOKEN } = await service.make.tokens(client, user);
      const fresh = JSON.parse(await outputOf(programs, file, { REFRESH_TOKEN })) as Record<string, string>;
      expect(await isAccepted(service.http, fresh.access_token!)).toBe(true);
    }
  });

  it('refresh once for many who ask, and ask the user again only when the grant has ended', async () => {
    const programs = await pageOf('refresh');
    run.add('refresh.mjs');
    const { refresh_token } = await service.make.tokens(client, user);
    await writeFile(
      path.join(programs.folder, 'try.mjs'),
      `import { accessTokenOf, Disconnected } from './refresh.mjs';
       let kept = { refresh_token: process.env.REFRESH_TOKEN, expires_at: 0 };
       let writes = 0;
       const store = { read: () => kept, write: (id, tokens) => { kept = tokens; writes++; }, remove: () => (kept = undefined) };
       const all = await Promise.all([1, 2, 3].map(() => accessTokenOf('u', store)));
       const again = await accessTokenOf('u', store);
       const first = { same: new Set([...all, again]).size === 1, writes };
       kept.expires_at = 0;
       kept.refresh_token = 'cds_rt_unknown';
       const refused = await accessTokenOf('u', store).catch((error) => error instanceof Disconnected);
       console.log(JSON.stringify({ ...first, refused, kept: kept ?? null }));`,
    );
    const { lines } = await programs.start('try.mjs', { ...settings(), REFRESH_TOKEN: refresh_token }).end();
    expect(JSON.parse(lines[0]!)).toEqual({ same: true, writes: 1, refused: true, kept: null });
  });

  it('receive webhooks, refuse what was not signed, outlive what is too long or breaks off, and check signatures in Python', async () => {
    const programs = await pageOf('webhooks');
    const token = await service.make.clientToken(client);
    expect(await outputOf(programs, 'portal-link.sh', { ACCESS_TOKEN: token })).toContain('/portal/login/');
    expect(await outputOf(programs, 'event-types.sh')).toContain('charging_session.updated');
    const webhooks = await Webhooks.start(service);
    const port = await freePort();
    const answer = await service.http.send(`/admin/clients/${client.id}/webhook_endpoints`, {
      bearer: webhooks.bearer,
      json: { url: `http://127.0.0.1:${port}/hook`, event_types: ['vehicle.updated'] },
    });
    run.add('receiver.mjs').add('verify.py');
    const receiver = programs.start('receiver.mjs', {
      WEBHOOK_SECRET: answer.json.secret as string,
      PORT: String(port),
    });
    const forge = (body = '{}') =>
      fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', body }).then(
        ({ status }) => status,
        () => 0,
      );
    await until('the receiver refuses', async () => (await forge()) === 400);
    // What is too long is broken off, or answered.
    expect([0, 400]).toContain(await forge('x'.repeat(2 ** 20)));
    await breakOff(port, '/hook');
    // The second endpoint shows what was sent.
    const seen = await webhooks.endpoint(client, { types: ['vehicle.updated'] });
    await webhooks.publish(user.id, { type: 'vehicle.updated', data: { id: 'v1' } });
    expect(await receiver.firstLine()).toBe(`vehicle.updated ${user.id}`);
    await webhooks.receives(seen);
    await receiver.kill();
    const [request] = webhooks.received(seen);
    await writeFile(
      path.join(programs.folder, 'try.py'),
      `import json, sys
from verify import is_ours
case = json.load(sys.stdin)
good, body = case["headers"], case["body"].encode()
old = {**good, "webhook-timestamp": "1000000000"}
print(json.dumps([is_ours(case["secret"], good, body), is_ours(case["secret"], good, body + b" "), is_ours(case["secret"], old, body)]))`,
    );
    const judge = programs.start('try.py');
    judge.type(JSON.stringify({ secret: seen.secret, headers: request!.headers, body: request!.body }));
    expect((await judge.end()).lines).toEqual(['[true, false, false]']);
  });

  it('wait when they are told to', async () => {
    const programs = await pageOf('limits');
    run.add('limited.mjs');
    await writeFile(
      path.join(programs.folder, 'try.mjs'),
      `import { createServer } from 'node:http';
       import { send } from './limited.mjs';
       const statuses = [429, 503, 200];
       const server = createServer((request, response) => response.writeHead(statuses.shift(), { 'retry-after': '0' }).end());
       await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
       const { status } = await send('http://127.0.0.1:' + server.address().port);
       console.log(status, statuses.length);
       process.exit();`,
    );
    expect((await programs.start('try.mjs').end()).lines).toEqual(['200 0']);
  });

  it('follow the events feed, wait when they are told to, and keep the position with the events', async () => {
    const programs = await pageOf('events-feed');
    run.add('feed.mjs');
    await writeFile(
      path.join(programs.folder, 'try.mjs'),
      `import { createServer } from 'node:http';
       import { follow } from './feed.mjs';
       const answers = [[429, '', 'wait'], [200, '2', '[{"id":"a"}]'], [200, '2', '[]'], [400, '', 'unknown position']];
       const asked = [];
       const server = createServer((request, response) => {
         const [status, next, body] = answers.shift();
         asked.push(request.url + ' ' + request.headers.authorization);
         response.writeHead(status, { 'retry-after': '0', link: '<' + base + '/' + next + '>; rel="next"' }).end(body);
       });
       await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
       const base = 'http://127.0.0.1:' + server.address().port;
       const saved = [];
       const store = { position: () => base + '/1', save: (events, next) => saved.push([events.length, next.slice(base.length)]) };
       const error = await follow(store, () => 'token').catch(({ message }) => message);
       console.log(JSON.stringify({ asked, saved, error }));
       process.exit();`,
    );
    const { lines } = await programs.start('try.mjs').end();
    expect(JSON.parse(lines[0]!)).toEqual({
      asked: ['/1', '/1', '/2?wait=20', '/2?wait=20'].map((address) => `${address} Bearer token`),
      saved: [
        [1, '/2?wait=20'],
        [0, '/2?wait=20'],
      ],
      error: '400: unknown position',
    });
  });

  it('keep a position of the feed, and find what is missing after it, also behind an empty page', async () => {
    const programs = await pageOf('polling-to-webhooks');
    const token = await service.make.clientToken(client);
    const given = {
      ACCESS_TOKEN: token,
      POSITION: await outputOf(programs, 'position.sh', { ACCESS_TOKEN: token }),
    };
    const webhooks = await Webhooks.start(service);
    const publish = async (id: string, more: object = {}): Promise<string> =>
      (await webhooks.publish(user.id, { type: 'vehicle.updated', data: { id }, ...more })).json.id as string;
    const first = await publish('m1');
    await until('the feed shows it', async () => {
      const shown = JSON.parse(await outputOf(programs, 'missed.sh', given)) as { id: string }[];
      return shown.some(({ id }) => id === first);
    });
    const gap = await gapInFeed(service.database);
    // A program ends with an event that happens after it began.
    const [second, third] = [await publish('m2', LATER), await publish('m3', LATER)];
    await webhooks.stop();
    await until('the feed shows the last', async () => {
      const { json } = await service.http.get(`/v2/events?after=${second}`, { bearer: token });
      return (json as { id: string }[]).some(({ id }) => id === third);
    });
    given.POSITION += '&page_size=1';
    await writeFile(
      path.join(programs.folder, 'try.mjs'),
      `import { missed } from './missed.mjs';
       const { POSITION, ACCESS_TOKEN, FIRST } = process.env;
       const { found, position } = await missed(POSITION, ACCESS_TOKEN, (id) => id === FIRST);
       const again = await missed(position, ACCESS_TOKEN, () => false);
       console.log(JSON.stringify([found, again.found].map((events) => events.map(({ id }) => id))));`,
    );
    await writeFile(
      path.join(programs.folder, 'try.py'),
      `import json, os
from missed import missed
first, token = os.environ["FIRST"], os.environ["ACCESS_TOKEN"]
found, position = missed(os.environ["POSITION"], token, lambda id: id == first)
again, _ = missed(position, token, lambda id: False)
print(json.dumps([[event["id"] for event in events] for events in (found, again)]))`,
    );
    run.add('missed.mjs').add('missed.py');
    for (const file of ['try.mjs', 'try.py']) {
      const { lines, err } = await programs.start(file, { ...given, FIRST: first }).end();
      expect({ err, out: JSON.parse(lines[0]!) as unknown }).toEqual({ err: '', out: [[second], [third]] });
    }
    await gap.close();
  });

  // The samples of what this build does not have yet are run as soon as it does.
  it('read the events feed, and make a driver in the sandbox', async () => {
    if (has('get', '/v2/events')) {
      const webhooks = await Webhooks.start(service);
      const ids: string[] = [];
      for (const id of ['v1', 'v2'])
        ids.push(
          (await webhooks.publish(user.id, { type: 'vehicle.updated', data: { id } })).json.id as string,
        );
      await webhooks.stop();
      const bearer = await service.make.clientToken(client);
      // The feed waits for every transaction that is older, also of other tests' databases on the same server.
      await until('the feed shows them', async () => {
        const { json } = await service.http.get('/v2/events?page_size=100', { bearer });
        const shown = (json as { id: string }[]).map(({ id }) => id);
        return ids.every((id) => shown.includes(id));
      });
      expect(
        await outputOf(await pageOf('events-feed'), 'first-events.sh', { ACCESS_TOKEN: bearer }),
      ).toContain(ids[1]);
      const given = { ACCESS_TOKEN: bearer, POSITION: `${service.url}/v2/events?after=${ids[0]}` };
      expect(JSON.parse(await outputOf(await pageOf('events-feed'), 'feed.sh', given))).toMatchObject([
        { id: ids[1] },
      ]);
    }
    if (has('post', '/v2/sandbox/drivers')) {
      const sandbox = await service.make.client({ environment: 'sandbox' } as object);
      const given = { ACCESS_TOKEN: await service.make.clientToken(sandbox) };
      const programs = await pageOf('sandbox');
      const driver = JSON.parse(await outputOf(programs, 'driver.sh', given)) as { id: string; name: string };
      expect(driver.name).toBe('Ada');
      await outputOf(programs, 'consent.sh', { ...given, DRIVER_ID: driver.id });
      await outputOf(programs, 'fault.sh', given);
    }
  });

  it('are all run', async () => {
    const missing: string[] = [];
    for (const { slug } of SHELVES[0].entries)
      for (const [file, text] of (await pageOf(slug)).files) {
        const address = /\/v2\/[\w/]+/.exec(text)?.[0];
        const isThere = !address || has(/--data/.test(text) ? 'post' : 'get', address);
        if (!run.has(file) && isThere && !file.endsWith('.go')) missing.push(file);
      }
    expect(missing).toEqual([]);
  });
});

describeUnless(LACKING.go, 'The programs in Go in the guides', () => {
  const client = madeOnce(() => service.make.client());
  const user = madeOnce(() => service.make.user());
  const pages: PagePrograms[] = [];
  afterAll(() => Promise.all(pages.map((each) => each.remove())));

  const goOf = async (slug: string): Promise<PagePrograms> => {
    const page = await PagePrograms.of(service.http, `/docs/guides/${slug}`, { inGo: true });
    pages.push(page);
    return page;
  };
  const outputOf = async (of: PagePrograms, file: string, more: Record<string, string> = {}) => {
    const settings = { CLIENT_ID: client.id, CLIENT_SECRET: client.secret, ...more };
    const { code, lines, err } = await of.start(file, settings).end();
    expect({ file, code, err }).toEqual({ file, code: 0, err: '' });
    return lines.join('\n');
  };

  it('exchange a code, if it answers their request', async () => {
    const browser = await service.make.signedIn(user);
    const page = await goOf('on-behalf-of-a-user');
    const { verifier, challenge } = newPkce();
    const cameTo = await browser.authorize({
      client_id: client.id,
      redirect_uri: REDIRECT_URI,
      response_type: 'code',
      state: 'kept',
      scope: 'vehicle:read',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    });
    const given = { CAME_BACK: cameTo.href, STATE: 'kept', VERIFIER: verifier, REDIRECT_URI };
    const settings = { CLIENT_ID: client.id, CLIENT_SECRET: client.secret, ...given };
    expect((await page.start('exchange.go', { ...settings, STATE: 'other' }).end()).code).toBe(1);
    expect(JSON.parse(await outputOf(page, 'exchange.go', given))).toHaveProperty('refresh_token');
  });

  it('get a token, call the API, and refresh', async () => {
    await service.make.consent(client, user);
    const first = await goOf('first-token');
    expect(JSON.parse(await outputOf(first, 'token.go'))).toMatchObject({ token_type: 'Bearer' });
    expect(await outputOf(first, 'first_token.go')).toMatch(new RegExp(`^200 .*"id":"${user.id}"`));
    const refused = await first
      .start('first_token.go', { CLIENT_ID: client.id, CLIENT_SECRET: 'wrong' })
      .end();
    expect([refused.code, refused.lines]).toEqual([1, ['']]);
    const { refresh_token: REFRESH_TOKEN } = await service.make.tokens(client, user);
    const fresh = JSON.parse(await outputOf(await goOf('refresh'), 'refresh_once.go', { REFRESH_TOKEN })) as {
      access_token: string;
    };
    expect(await isAccepted(service.http, fresh.access_token)).toBe(true);
  });

  it('receive webhooks and refuse what was not signed, and find what is missing', async () => {
    const ACCESS_TOKEN = await service.make.clientToken(client);
    const polling = await goOf('polling-to-webhooks');
    const POSITION = await outputOf(polling, 'position.sh', { ACCESS_TOKEN });
    const webhooks = await Webhooks.start(service);
    const port = await freePort();
    const answer = await service.http.send(`/admin/clients/${client.id}/webhook_endpoints`, {
      bearer: webhooks.bearer,
      json: { url: `http://127.0.0.1:${port}/hook`, event_types: ['vehicle.updated'] },
    });
    const receiver = (await goOf('webhooks')).start('receiver.go', {
      WEBHOOK_SECRET: answer.json.secret as string,
      PORT: String(port),
    });
    const forge = (headers: Record<string, string> = {}) =>
      fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', body: '{}', headers }).then(
        ({ status }) => status,
        () => 0,
      );
    await until('the receiver refuses', async () => (await forge()) === 400);
    const now = String(Math.floor(Date.now() / 1000));
    expect(await forge({ 'webhook-timestamp': now, 'webhook-signature': 'v1,AAAA' })).toBe(400);
    const gap = await gapInFeed(service.database);
    const { json } = await webhooks.publish(user.id, {
      type: 'vehicle.updated',
      data: { id: 'g1' },
      ...LATER,
    });
    expect(await receiver.firstLine()).toBe(`vehicle.updated ${user.id}`);
    await Promise.all([receiver.kill(), webhooks.stop()]);
    await until('the feed shows it', async () => {
      const found = await outputOf(polling, 'missed.go', { ACCESS_TOKEN, POSITION });
      return found === `${json.id as string} vehicle.updated`;
    });
    await gap.close();
  });
});
