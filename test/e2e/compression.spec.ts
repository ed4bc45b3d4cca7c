import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { STATIC_ASSETS } from '#platform/http/server/assets.js';
import { COMPRESSED_PAGES } from '#platform/http/server/compression.js';
import { withRoutes, type Route } from '../properties/support/routes.js';
import { type BrowserSession, enterPortal, type TestClient } from '../support/spec.js';
import { untilHourHasRoom } from '../support/hours.js';
import { startService, type TestService } from '../support/test-service.js';
import { listOf } from '../support/list-of.js';

/** Pages that are not compressed, and why. The first match counts. */
const NOT_COMPRESSED: [path: RegExp, reason: string][] = [
  [/^\/(password\/forgotten|sign-up|account\/email|portal\/contacts)$/, 'shows an address, typed or stored'],
  [
    /^\/(password|portal\/login|email\/(verify|unsubscribe)|sign-up|invitations)\//,
    'the form contains the key of the link',
  ],
  [/^\/login\/callback\/:id$/, 'the link contains the address to return to'],
  [/^\/(login|login\/second-factor|o\/authorize)$/, 'the form contains parameters of the address'],
  [/^\/account\/(confirm$|security\/)/, 'shows a secret, or what was typed or asked for'],
  [/^\/account\/(export|delete)$/, 'shows an address, typed or stored'],
  [/^\/account\/receipts\/:id\/file$/, 'a file, signed anew each time'],
  [
    /^\/account\/export\/:key$/,
    'the form contains the key of the link, and the page everything about the user',
  ],
  [/^\/account\/notifications$/, 'the forms contain the address to return to'],
  [/^\/docs\/search$/, 'shows what was searched for'],
  [/^\/demo\/callback$/, 'shows the code from the address'],
  [/^\/portal\/endpoints\/:id(\/(secret|headers|rotate))?$/, 'shows or changes a secret'],
  [/^\/portal\/sign-in$/, 'is for another visitor than the portal'],
  [/^\/portal\/deliveries(\/:id|\/matching|\/csv)?$/, 'shows the filter next to data of users'],
  [
    /^\/portal\/(endpoints\/|recoveries\/|redirect-uris$|requests(\/|$)|search$|sandbox(\/events)?$)/,
    'shows what was typed, asked for, or chosen in the address',
  ],
  [/^\/portal\/credentials(\/secret)?$/, 'shows or changes a secret'],
  [/^\/portal\/members(\/|$)/, 'shows addresses, typed or stored'],
  [/^\/admin\/console\//, 'shows search terms or typed text next to names, addresses and secrets'],
];

let service: TestService;
let routes: Route[];
let client: TestClient;
let receiptId: string;
let visitors: { user: BrowserSession; operator: BrowserSession; partner: BrowserSession };

beforeAll(async () => {
  [service, routes] = await withRoutes(() => startService());
  client = await service.make.client();
  const user = await service.make.user();
  await service.make.consent(client, user);
  receiptId = (await service.database.value<string>('SELECT id FROM consent_versions'))!;
  visitors = {
    user: await service.make.signedIn(user),
    operator: await service.make.signedInNew({ role: 'operator' }),
    partner: await enterPortal(service, client),
  };
});

interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Returns the answer as sent over the wire, without decompressing it. */
function receive(
  path: string,
  headers: Record<string, string> = {},
  { method = 'GET', by }: { method?: string; by?: BrowserSession } = {},
): Promise<Received> {
  const cookie = by && [...by.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const all = { accept: 'text/html', ...(cookie ? { cookie } : {}), ...headers };
  return new Promise((resolve, reject) => {
    httpRequest(service.url + path, { method, headers: all, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) }),
      );
    })
      .on('error', reject)
      .end();
  });
}

const opened = ({ headers, body }: Received) => {
  const encoding = headers['content-encoding'];
  if (encoding === 'br') return brotliDecompressSync(body).toString();
  return (encoding === 'gzip' ? gunzipSync(body) : body).toString();
};
const visitorOf = (path: string): BrowserSession | undefined =>
  path.startsWith('/admin')
    ? visitors.operator
    : path.startsWith('/portal')
      ? visitors.partner
      : visitors.user;
const pathOf = (route: string) =>
  route
    .replace('guides/:slug', 'guides/errors')
    .replace('libraries/:slug', 'libraries/authlib')
    .replace(':slug', 'not-found')
    .replace(':client_id', client.id)
    .replace('receipts/:id', `receipts/${receiptId}`);

describe('Every page', () => {
  it('is either in the list of compressed pages or, with a reason, in the list of uncompressed ones', () => {
    const pages = [
      ...new Set(routes.filter(({ isPage, method }) => isPage && method === 'GET').map(({ url }) => url)),
    ];
    const neither = pages.filter(
      (url) => !COMPRESSED_PAGES.has(url) && !NOT_COMPRESSED.some(([path]) => path.test(url)),
    );
    expect(neither).toEqual([]);
    expect([...COMPRESSED_PAGES].filter((url) => !routes.some((route) => route.url === url))).toEqual([]);
    const unused = NOT_COMPRESSED.filter(
      ([path]) => !pages.some((url) => path.test(url)) && !path.test('/demo/callback'),
    );
    expect(unused).toEqual([]);
  });
});

describe.each([...COMPRESSED_PAGES].map((route): [string] => [route]))('The page %s', (route) => {
  const by = () => visitorOf(route);
  // CSRF tokens are masked differently on every page, and the request ID changes.
  const same = (text: string) => text.replace(/(csrf_token" value=")[^"]+|request ID <code>[^<]+/g, '$1');

  it('is sent as br or gzip, with its length, to clients that accept it', async () => {
    // The charts of some pages move with the hour.
    await untilHourHasRoom();
    const plain = await receive(pathOf(route), {}, { by: by() });
    expect([plain.status, plain.headers['content-encoding']]).toEqual([200, undefined]);
    for (const encoding of ['br', 'gzip']) {
      const accepted = { 'accept-encoding': encoding };
      const answer = await receive(pathOf(route), accepted, { by: by() });
      expect([answer.status, answer.headers['content-encoding']]).toEqual([200, encoding]);
      expect(answer.headers['content-length']).toBe(String(answer.body.length));
      expect(answer.body.length).toBeLessThan(plain.body.length / 1.5);
      expect(same(opened(answer)).length).toBe(same(plain.body.toString()).length);
      for (const { headers } of [plain, answer]) expect(headers.vary).toMatch(/(^|, )accept-encoding$/);
      if (encoding === 'br') continue;
      const head = await receive(pathOf(route), accepted, { by: by(), method: 'HEAD' });
      expect([head.status, head.body.length, head.headers['content-encoding']]).toEqual([200, 0, encoding]);
      expect(head.headers.vary).toBe(answer.headers.vary);
    }
  });

  it('echoes nothing from the address, so that its compressed length cannot confirm a guess', async () => {
    const path = `${pathOf(route)}?canary=zq7canary&q=zq7canary&page=zq7canary`;
    const answer = await receive(path, { 'accept-encoding': 'gzip' }, { by: by() });
    const page = opened(answer);
    // But for the links to other languages, with which it is not compressed.
    expect(page.replace(/<a href="[^"]*" hreflang="/g, '')).not.toContain('zq7canary');
    const mayBeCompressed = !page.includes('zq7canary');
    expect(answer.headers['content-encoding']).toBe(mayBeCompressed ? 'gzip' : undefined);
  });
});

describe('No compression', () => {
  const every = { 'accept-encoding': 'br, gzip, deflate, zstd' };
  const expectPlain = ({ headers, body }: Received) => {
    expect(headers['content-encoding']).toBeUndefined();
    expect(headers['content-length']).toBe(String(body.length));
  };

  it.each(
    listOf(`
    /login?return_to=/account, /admin/console/users, /portal/deliveries, /account/notifications
  `),
  )('is applied to the page %s', async (path) => {
    const answer = await receive(path, every, {
      by: path === '/login?return_to=/account' ? undefined : visitorOf(path),
    });
    expect(answer.status).toBe(200);
    expectPlain(answer);
  });

  it('is applied to JSON for partners, operators and clients, however large', async () => {
    const bearer = await service.make.clientToken(client);
    const admin = await service.make.adminToken();
    for (let n = 0; n < 6; n++) await service.make.consent(client, await service.make.user());
    for (const [path, token] of [
      ['/v2/users', bearer],
      ['/admin/users', admin],
      ['/admin/clients', admin],
      ['/notifications', bearer],
      ['/webhook_portal', bearer],
    ] as const) {
      const answer = await receive(path, { ...every, authorization: `Bearer ${token}`, accept: '*/*' });
      expect([path, answer.status]).toEqual([path, 200]);
      expectPlain(answer);
    }
  });

  it('is applied to the answers of the token, revocation and introspection endpoints', async () => {
    for (const path of ['/o/token', '/o/revoke_token/', '/o/introspect'])
      expectPlain(await receive(path, every, { method: 'POST' }));
  });

  it('is applied to other refusals, or when the request does not accept a supported encoding', async () => {
    expectPlain(await receive('/nowhere', every));
    for (const header of ['identity', 'br;q=0, gzip;q=0', 'zstd', ''])
      expectPlain(await receive('/', { 'accept-encoding': header }));
    expectPlain(await receive('/'));
  });
});

describe('A refusal below the path of a compressed page', () => {
  it('is a readable page', async () => {
    const answer = await receive(
      '/account/applications/nobody',
      { 'accept-encoding': 'br' },
      { by: visitors.user },
    );
    expect(answer.status).toBe(404);
    expect(answer.headers['content-length']).toBe(String(answer.body.length));
    expect(opened(answer)).toContain('<h1>');
  });
});

it('style sheets hold no data: URL, which the CSP of the pages would block', async () => {
  for (const path of ['/assets/pico.min.css', '/assets/app.css', '/assets/guides.css', '/assets/docs.css'])
    expect((await receive(path)).body.toString()).not.toMatch(/url\(["']?data:/);
});

describe.each([
  ['/assets/pico.min.css', 'public, max-age=3600'],
  ['/assets/favicon.svg', 'public, max-age=3600'],
  ['/openapi.json', 'public, max-age=60'],
  ['/openapi/operators.json', 'public, max-age=60'],
  ['/asyncapi.json', 'public, max-age=60'],
])('%s, which is the same for everybody,', (path, cacheControl) => {
  it.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1, br;q=0', 'gzip'],
    ['*', 'br'],
  ])('is sent to clients that accept %s as %s', async (accepted, encoding) => {
    const plain = await receive(path);
    const answer = await receive(path, { 'accept-encoding': accepted });
    const { headers } = answer;
    expect([answer.status, headers['content-encoding'], headers['cache-control']]).toEqual([
      200,
      encoding,
      cacheControl,
    ]);
    expect(headers['content-length']).toBe(String(answer.body.length));
    expect(headers['content-type']).toBe(plain.headers['content-type']);
    expect([headers.vary, plain.headers.vary]).toEqual(['accept-encoding', 'accept-encoding']);
    expect(opened(answer)).toBe(plain.body.toString());
    expect(plain.headers['content-length']).toBe(String(plain.body.length));
  });

  it('has a separate entity tag for each encoding, and answers 304 to a client that has it', async () => {
    const tags = new Set<string>();
    for (const accepted of ['br', 'gzip', 'identity']) {
      const headers = { 'accept-encoding': accepted };
      const etag = (await receive(path, headers)).headers.etag!;
      tags.add(etag);
      for (const tag of [etag, `"other", ${etag}`, '*']) {
        const again = await receive(path, { ...headers, 'if-none-match': tag });
        expect([tag, again.status, again.body.length]).toEqual([tag, 304, 0]);
        expect([again.headers.etag, again.headers.vary]).toEqual([etag, 'accept-encoding']);
        expect(again.headers['cache-control']).toBe(cacheControl);
      }
      expect((await receive(path, { ...headers, 'if-none-match': '"other"' })).status).toBe(200);
    }
    expect(tags.size).toBe(3);
  });

  it('answers HEAD with the same headers as GET', async () => {
    for (const accepted of ['br', 'identity']) {
      const headers = { 'accept-encoding': accepted };
      const [get, head] = [await receive(path, headers), await receive(path, headers, { method: 'HEAD' })];
      expect([head.status, head.body.length]).toEqual([200, 0]);
      for (const name of ['content-length', 'content-encoding', 'content-type', 'etag', 'vary'])
        expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
    }
  });
});

describe('The script of the API reference', () => {
  it('is compressed, and kept for good under its version', async () => {
    const path = STATIC_ASSETS.find(({ versioned }) => versioned)!.path;
    expect(path).toMatch(/-\d+\.\d+\.\d+\.js$/);
    const plain = await receive(path);
    expect([plain.status, plain.headers['content-encoding']]).toEqual([200, undefined]);
    for (const encoding of ['br', 'gzip']) {
      const answer = await receive(path, { 'accept-encoding': encoding });
      expect(answer.headers).toMatchObject({
        'content-encoding': encoding,
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
        'content-length': String(answer.body.length),
        vary: 'accept-encoding',
      });
      expect(answer.headers.etag).not.toBe(plain.headers.etag);
      expect(opened(answer) === plain.body.toString()).toBe(true);
    }
  });
});

describe('A request for a byte range of an asset', () => {
  it('gets the whole, which HTTP allows', async () => {
    const path = '/assets/app.css';
    const whole = await receive(path);
    const answer = await receive(path, { range: 'bytes=10-19' });
    expect([answer.status, answer.headers['content-range']]).toEqual([200, undefined]);
    expect(answer.body.equals(whole.body)).toBe(true);
  });
});
