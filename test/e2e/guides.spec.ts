import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parse, type HTMLElement } from 'node-html-parser';
import { pathOf, SHELVES } from '../../src/api-docs/handbook/catalogue.js';
import { duration } from '../../src/api-docs/handbook/duration.js';
import { renderMarkdown } from '../../src/api-docs/handbook/markdown.js';
import { fillIn } from '../../src/api-docs/handbook/placeholders.js';
import { AUTHORIZATION_ERROR_KINDS, OAUTH_ERROR_KINDS } from '../../src/http/problems/oauth-error-kinds.js';
import { PROBLEM_KINDS } from '../../src/http/problems/problem-kinds.js';
import type { Method } from '../../src/api-docs/openapi.js';
import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import { committedDocument } from '../support/openapi-document.js';
import { REDIRECT_URI, type TestClient } from '../support/factory.js';
import { freePort } from '../support/free-port.js';
import { isAccepted } from '../support/oauth.js';
import { PagePrograms } from '../support/page-programs.js';
import { startService, type TestService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { WEBHOOK_ENV, Webhooks } from '../support/webhooks.js';

const PAGES = SHELVES.flatMap(({ folder, entries }) => entries.map(({ slug }) => pathOf(folder, slug)));

/** Whether this build has the operation. */
const has = (method: Method, address: string): boolean =>
  committedDocument.paths[address]?.[method] !== undefined;

let service: TestService;
beforeAll(async () => {
  const env = { ...WEBHOOK_ENV, ACCESS_TOKEN_TTL_SECONDS: '7200', RATE_LIMIT_PER_HOUR: '1234' };
  service = await startService({ env });
});
afterAll(() => service.stop());

const open = async (address: string): Promise<{ text: string; html: HTMLElement; policy: string }> => {
  const { status, text, headers } = await service.http.get(address, { headers: { accept: 'text/html' } });
  expect([address, status]).toEqual([address, 200]);
  return { text, html: parse(text), policy: headers.get('content-security-policy')! };
};

describe('The guides', () => {
  it.each([
    '/docs/guides/unknown',
    '/docs/libraries/unknown',
    '/docs/libraries/first-token',
    '/docs/guides/..%2Fsecurity',
    '/docs/guides/__proto__',
    '/docs/shelves/first-token',
  ])('do not have the page %s', async (address) => {
    const { status, text } = await service.http.get(address, { headers: { accept: 'text/html' } });
    expect([status, text]).toEqual([404, expect.stringContaining('<h1>')]);
  });

  it('do not pass on HTML of a page, or links that run something', () => {
    const { html } = renderMarkdown(
      '# A <b>page</b>\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1))',
    );
    expect(html).not.toMatch(/<script|<b>|href="javascript/);
  });

  it('refuse a placeholder that nothing stands for, and a sample in an unknown language', () => {
    expect(() => fillIn('{{nothing}}', {})).toThrow('{{nothing}}');
    expect(() => renderMarkdown('```cobol\nSTOP RUN.\n```')).toThrow('cobol');
  });

  it('have a page for each file, and a file for each page', async () => {
    for (const { folder, entries } of SHELVES) {
      const files = await readdir(path.join('src/api-docs', folder));
      expect(files.sort()).toEqual(entries.map(({ slug }) => `${slug}.md`).sort());
    }
  });

  it.each(PAGES)(
    '%s is readable without a script, and everything comes from this service',
    async (address) => {
      const { text, html, policy } = await open(address);
      expect(html.querySelectorAll('h1')).toHaveLength(1);
      expect(text).not.toMatch(/\{\{\w|MEASURED|<[^>]+ style=/);
      expect(policy).not.toMatch(/unsafe|\*|data:|https?:/);
      const loaded = html
        .querySelectorAll('script, link, img')
        .map((each) => each.getAttribute('src') ?? each.getAttribute('href')!);
      expect(loaded.filter((source) => !source.startsWith('/assets/'))).toEqual([]);
      const current = html.querySelectorAll('[aria-current=page]').map((each) => each.getAttribute('href'));
      expect(new Set(current)).toEqual(new Set([address]));
    },
  );

  it('lead to pages and anchors that exist', async () => {
    const operations = Object.values({ ...committedDocument.paths, ...committedDocument.webhooks });
    const anchors = new Map<string, Set<string>>([
      [
        '/docs',
        new Set(operations.flatMap((methods) => Object.values(methods).map((one) => one.operationId))),
      ],
    ]);
    const links: string[] = [];
    for (const address of ['/docs/guides', ...PAGES]) {
      const { html } = await open(address);
      const ids = html.querySelectorAll('[id]').map(({ id }) => id);
      expect([address, ids.length]).toEqual([address, new Set(ids).size]);
      anchors.set(address, new Set(ids));
      for (const link of html.querySelectorAll('a'))
        links.push(new URL(link.getAttribute('href')!, service.url + address).href);
    }
    const broken: string[] = [];
    for (const link of new Set(links)) {
      const { origin, pathname, hash } = new URL(link);
      if (origin !== service.url) continue;
      const known = anchors.get(pathname);
      const isThere = known
        ? hash === '' || known.has(hash.slice(1))
        : (await service.http.get(pathname)).status === 200;
      if (!isThere) broken.push(link);
    }
    expect(broken).toEqual([]);
    // Further sites are named in few places.
    const others = new Set(
      links.map((link) => new URL(link).origin).filter((origin) => origin !== service.url),
    );
    expect([...others]).toEqual(['https://www.standardwebhooks.com']);
  });

  it('are led to by the API reference, and list all pages', async () => {
    expect((await open('/docs')).html.querySelector('a[href="/docs/guides"]')).not.toBeNull();
    const { html } = await open('/docs/guides');
    for (const address of PAGES) expect(html.querySelector(`a[href="${address}"]`)).not.toBeNull();
  });

  it('say what this service is configured with', async () => {
    const { html } = await open('/docs/guides/limits');
    expect(html.text).toMatch(/access token\s*2 hours/);
    expect(html.text).toContain('1234 in any 60 minutes');
    expect((await open('/docs/guides/first-token')).html.text).toContain(`${service.url}/o/token`);
    expect([duration(36_000), duration(90), duration(86_400), duration(1)]).toEqual([
      '10 hours',
      '90 seconds',
      '1 day',
      '1 second',
    ]);
  });

  it('list every error with its cause and what to do, as the service itself knows them', async () => {
    const { html } = await open('/docs/guides/errors');
    const text = html.text.replace(/\s+/g, ' ');
    const headings = html.querySelectorAll('h3').map((each) => each.text);
    const codes = [...Object.keys(OAUTH_ERROR_KINDS), ...Object.keys(AUTHORIZATION_ERROR_KINDS)];
    const problems = Object.entries(PROBLEM_KINDS);
    expect(headings).toEqual([...codes, ...problems.map(([slug, { status }]) => `${status} ${slug}`)]);
    for (const kind of [...Object.values(OAUTH_ERROR_KINDS), ...Object.values(AUTHORIZATION_ERROR_KINDS)])
      for (const words of Object.values(kind)) expect(text).toContain(words);
    for (const [, { explanation }] of problems) expect(text).toContain(explanation.slice(0, 40));
  });
});

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
  const outputOf = async (
    of: PagePrograms,
    file: string,
    more: Record<string, string> = {},
  ): Promise<string> => {
    run.add(file);
    const { code, lines, err } = await of.start(file, { ...settings(), ...more }).end();
    expect({ file, code, err }).toEqual({ file, code: 0, err: '' });
    return lines.join('\n');
  };

  it('get a first token and call the API, with curl, Node.js and Python', async () => {
    const programs = await pageOf('first-token');
    const refused = programs.start('token.sh', { ...settings(), CLIENT_SECRET: 'wrong' });
    expect(await refused.end()).toMatchObject({
      code: 22,
      lines: [expect.stringContaining('invalid_client')],
    });
    const { access_token: token } = JSON.parse(await outputOf(programs, 'token.sh')) as {
      access_token: string;
    };
    const users = [expect.objectContaining({ id: user.id })];
    expect(JSON.parse(await outputOf(programs, 'users.sh', { ACCESS_TOKEN: token }))).toEqual(users);
    for (const file of ['first-token.mjs', 'first_token.py']) {
      const [, status, body] = /^(\d+) (.*)$/s.exec(await outputOf(programs, file))!;
      expect([file, status, JSON.parse(body!)]).toEqual([file, '200', users]);
    }
  });

  it('act on behalf of a user with curl: PKCE, the exchange, the user, the refresh and the end', async () => {
    const programs = await pageOf('on-behalf-of-a-user');
    const browser = await service.make.signedIn(user);
    run.add('pkce.sh');
    await writeFile(path.join(programs.folder, 'try.sh'), '. ./pkce.sh\necho "$VERIFIER"');
    const [sent, VERIFIER] = (await outputOf(programs, 'try.sh')).split('\n');
    const cameTo = await browser.authorize(Object.fromEntries(new URL(sent!).searchParams));
    const CODE = cameTo.searchParams.get('code')!;
    const tokens = JSON.parse(
      await outputOf(programs, 'exchange.sh', { CODE, VERIFIER: VERIFIER! }),
    ) as Record<string, string>;
    const me = await outputOf(programs, 'me.sh', { ACCESS_TOKEN: tokens.access_token! });
    expect(JSON.parse(me)).toMatchObject({ id: user.id });
    const fresh = JSON.parse(
      await outputOf(await pageOf('refresh'), 'refresh.sh', { REFRESH_TOKEN: tokens.refresh_token! }),
    ) as Record<string, string>;
    expect(await isAccepted(service.http, fresh.access_token!)).toBe(true);
    expect(await outputOf(programs, 'revoke.sh', { REFRESH_TOKEN: fresh.refresh_token! })).toBe('{}');
    expect(await isAccepted(service.http, fresh.access_token!)).toBe(false);
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

  it('receive webhooks, refuse what was not signed, and check signatures in Python', async () => {
    const programs = await pageOf('webhooks');
    const token = await service.make.clientToken(client);
    expect(await outputOf(programs, 'portal-link.sh', { ACCESS_TOKEN: token })).toContain('/portal/login/');
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
    const forge = () =>
      fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', body: '{}' }).then(
        ({ status }) => status,
        () => 0,
      );
    await until('the receiver refuses', async () => (await forge()) === 400);
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
    await webhooks.stop();
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
       const store = { position: () => base + '/1', save: (events, next) => saved.push([events.length, next.at(-1)]) };
       const error = await follow(store, () => 'token').catch(({ message }) => message);
       console.log(JSON.stringify({ asked, saved, error }));
       process.exit();`,
    );
    const { lines } = await programs.start('try.mjs').end();
    expect(JSON.parse(lines[0]!)).toEqual({
      asked: ['/1', '/1', '/2', '/2'].map((address) => `${address} Bearer token`),
      saved: [
        [1, '2'],
        [0, '2'],
      ],
      error: '400: unknown position',
    });
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
      const given = { ACCESS_TOKEN: await service.make.clientToken(client), LAST_EVENT_ID: ids[0]! };
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
        if (!run.has(file) && isThere) missing.push(file);
      }
    expect(missing).toEqual([]);
  });
});

describe('The image', () => {
  it('gets the pages: the build copies them beside the program', async () => {
    const { compilerOptions } = JSON.parse(await readFile('nest-cli.json', 'utf8')) as {
      compilerOptions: { assets: { include: string }[] };
    };
    expect(compilerOptions.assets.map(({ include }) => include)).toContain('api-docs/**/*.md');
    // Written by the build that ran before the tests.
    for (const address of PAGES)
      expect(existsSync(`dist/src/api-docs/${address.slice('/docs/'.length)}.md`)).toBe(true);
  });
});
