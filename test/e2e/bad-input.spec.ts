import type { Schema } from '#entrypoints/api-docs/openapi.js';
import { type HttpOptions, membersIn, placeOf, useSharedService } from '../support/spec.js';
import { committedDocument, deref } from '../support/openapi-document.js';
import { rawRequest, sendRaw } from '../support/raw-http.js';
import { expectRefusal, rowCounts, unexpectedErrors } from '../support/refusals.js';
import { listOf } from '../support/list-of.js';

const FORM = 'application/x-www-form-urlencoded';
const FORM_PATHS = ['/o/token', '/o/revoke_token/', '/o/introspect', '/o/authorize/', '/login', '/logout'];
const ALL_FORM_PATHS = [...FORM_PATHS, '/portal/login/x', '/portal/logout', '/password/x'];
// A byte that never occurs in UTF-8; an unpaired surrogate; an incomplete character.
const BAD_UTF8 = ['fffe', 'eda080', 'c3'];

/** Every member of a request that the documents describe as a time: method, path and name. */
function timesIn({ paths }: typeof committedDocument): [method: string, path: string, name: string][] {
  const isTime = (schema: Schema | undefined): boolean => schema?.format === 'date-time';
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { parameters = [], requestBody }]) => {
      const body = requestBody?.content['application/json']?.schema;
      const found = body && deref(committedDocument, body);
      const properties = (found?.properties ?? {}) as Record<string, Schema>;
      const names = [
        ...parameters.filter(({ schema }) => isTime(schema)).map(({ name }) => name),
        ...Object.keys(properties).filter((name) => isTime(properties[name])),
      ];
      return names.map((name): [string, string, string] => [method.toUpperCase(), path, name]);
    }),
  );
}

describe('The service,', () => {
  const service = useSharedService();
  let credentials: Record<string, string>;
  let token: string;
  let admin: string;
  let userId: string;
  let before: Record<string, number>;
  let logged: number;

  beforeAll(async () => {
    const client = await service.make.client();
    credentials = { client_id: client.id, client_secret: client.secret };
    token = await service.make.clientToken(client);
    admin = await service.make.adminToken();
    const user = await service.make.user();
    await service.make.consent(client, user);
    userId = user.id;
  });

  // None of these requests may store anything or cause an unexpected error.
  beforeAll(async () => void (before = await rowCounts(service)));
  beforeEach(() => void (logged = service.log.length));
  afterEach(() => expect(unexpectedErrors(service, logged)).toEqual([]));

  const send = (path: string, options: HttpOptions = {}) => service.http.send(path, options);
  const sendForm = (path: string, body: string | Buffer) =>
    send(path, { method: 'POST', headers: { 'content-type': FORM }, body });
  const sendJson = (body: string | Buffer, method = 'POST', path = '/admin/users') =>
    send(path, { method, bearer: admin, headers: { 'content-type': 'application/json' }, body });
  const raw = (line: string, headers?: Record<string, string>, body?: string) =>
    sendRaw(service.url, rawRequest(line, headers, body));

  describe('given bad input in bodies,', () => {
    it('refuses more than 64 kB on every endpoint, with a Content-Length or chunked', async () => {
      for (const path of ALL_FORM_PATHS)
        expect([path, (await sendForm(path, `a=${'x'.repeat(66_000)}`)).status]).toEqual([path, 413]);
      for (const path of ['/admin/users', '/admin/clients']) {
        const body = JSON.stringify({ name: 'x'.repeat(66_000) });
        expect([path, (await sendJson(body, 'POST', path)).status]).toEqual([path, 413]);
      }
      const head = rawRequest('POST /o/token', { 'Content-Type': FORM, 'Transfer-Encoding': 'chunked' });
      const piece = `2000\r\n${'x'.repeat(0x2000)}\r\n`;
      expect((await sendRaw(service.url, head, piece.repeat(12), '0\r\n\r\n')).status).toBe(413);
    });

    it.each(['{"a":', '{"a":1}}', "{'a':1}", '{"a":\u0000}', '[1,', 'nul', '{"a":1,"a"}', '\ufeff{'])(
      'refuses malformed JSON: %j',
      async (body) => {
        const answer = await sendJson(body);
        expectRefusal(answer, body);
        expect(answer.status).toBe(400);
      },
    );

    it.each(['[]', '1', '"text"', 'null', 'true', '[{"email":"a@mail.example","name":"A"}]'])(
      'refuses JSON that is not an object: %s',
      async (body) => {
        expectRefusal(await sendJson(body), 'POST');
        expectRefusal(await sendJson(body, 'PATCH', `/admin/users/${userId}`), 'PATCH');
        const consent = `/admin/clients/${credentials.client_id}/consents/${userId}`;
        expectRefusal(await sendJson(body, 'PUT', consent), 'PUT');
      },
    );

    it.each([
      ['__proto__', '{"email":"a@mail.example","name":"A","__proto__":{"role":"operator"}}'],
      [
        'constructor',
        '{"email":"a@mail.example","name":"A","constructor":{"prototype":{"role":"operator"}}}',
      ],
      ['thousands of members', `{${Array.from({ length: 5000 }, (_, n) => `"m${n}":1`).join()}}`],
      ['ten thousand levels', `{"name":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
      ['ten thousand levels, unfinished', '{"name":['.repeat(7000)],
    ])('refuses JSON with %s', async (name, body) => {
      expectRefusal(await sendJson(body), name);
      expect(({} as Record<string, unknown>).role).toBeUndefined();
    });

    it.each(['a=%', 'a=%zz', 'a=%c3%28', 'gr%ed%a0%80nt=a', 'a=%00', '%00=a', 'a=%ff', 'a=\u0000'])(
      'refuses forms with broken encoding or NUL: %j',
      async (body) => {
        for (const path of ALL_FORM_PATHS) expectRefusal(await sendForm(path, body), path);
      },
    );

    it.each(BAD_UTF8)('refuses the bytes %s, which are not UTF-8, in forms', async (hex) => {
      const start = Buffer.from('grant_type=client_credentials&scope=');
      const body = Buffer.concat([start, Buffer.from(hex, 'hex')]);
      for (const path of ALL_FORM_PATHS) expectRefusal(await sendForm(path, body), path);
    });

    it.each(BAD_UTF8)('refuses the bytes %s, which are not UTF-8, in JSON', async (hex) => {
      const start = Buffer.from(`{"email":"${hex}@mail.example","name":"B`);
      const body = Buffer.concat([start, Buffer.from(hex, 'hex'), Buffer.from('"}')]);
      expectRefusal(await sendJson(body), 'JSON');
    });

    it.each(['\\ud800', 'A\\udc00', '\\u0000', 'A\\u0000B'])('refuses %s in JSON', async (text) => {
      expectRefusal(await sendJson(`{"email":"b@mail.example","name":"${text}"}`), 'a value');
      expectRefusal(await sendJson(`{"email":"b@mail.example","name":"B","x${text}":1}`), 'a name');
      const client = `{"name":"C","type":"public","grant_types":["authorization_code"],"scopes":["${text}"]}`;
      expectRefusal(await sendJson(client, 'POST', '/admin/clients'), 'a list');
    });

    it('refuses ten thousand parameters', async () => {
      const many = Array.from({ length: 10_000 }, (_, n) => `p${n}`).join('&');
      for (const path of ALL_FORM_PATHS) expectRefusal(await sendForm(path, many), path);
      for (const path of ['/o/authorize', '/login', '/v2/users', '/admin/users', '/admin/audit_events'])
        expectRefusal(await send(`${path}?${many.slice(0, 12_000)}`, { bearer: admin }), path);
    });

    it.each(timesIn(committedDocument))(
      'takes a time of %s %s only as the documents describe it: %s, with seconds, and with Z or an offset',
      async (method, path, name) => {
        const members = async (value: string) => {
          const query = method === 'GET' ? `?${new URLSearchParams({ [name]: value }).toString()}` : '';
          const json = method === 'GET' ? undefined : { [name]: value };
          return membersIn(await send(path + query, { method, bearer: admin, json }));
        };
        for (const bad of ['2026-01-31', '2026-01-31T08:00Z', '2026-01-31T08Z', '2026-01-31T08:00:00'])
          expect([bad, await members(bad)]).toEqual([bad, expect.arrayContaining([name])]);
        for (const good of ['2026-01-31T08:00:00Z', '2026-01-31T08:00:00.123456789+02:00'])
          expect([good, await members(good)]).not.toEqual([good, expect.arrayContaining([name])]);
      },
    );

    it('describes times of events, notifications and the audit log', () => {
      expect(timesIn(committedDocument).map(([, path, name]) => `${path} ${name}`)).toEqual(
        expect.arrayContaining([
          '/v2/events timestamp',
          '/admin/notifications event_time',
          '/admin/audit_events since',
        ]),
      );
    });

    it.each(['-1', '1e3', '5, 6', 'abc', '99999999999999999999', '1'])(
      'refuses a body of three bytes with "Content-Length: %s"',
      async (length) => {
        const head = { 'Content-Type': FORM, 'Content-Length': length };
        for (const path of FORM_PATHS) expectRefusal(await raw(`POST ${path}`, head, 'a=b'), path);
      },
    );

    it('refuses Content-Length together with chunked encoding, and two lengths', async () => {
      const head = { 'Content-Type': FORM, 'Content-Length': '3' };
      for (const [name, value] of [
        ['Transfer-Encoding', 'chunked'],
        ['content-length', '4'],
      ] as const) {
        expectRefusal(await raw('POST /o/token', { ...head, [name]: value }, 'a=b'), name);
      }
    });
  });

  describe('given bad input in addresses,', () => {
    it.each([
      '/%00',
      '/%zz',
      '/%',
      '/%c3%28',
      '/login%00',
      '/v2/users/%00',
      '/v2/users/%ed%a0%80',
      '/portal/login/%zz',
      '///login',
      '//evil.example/login',
      '/../',
      '/../../etc/passwd',
      '/%2e%2e/%2e%2e/etc/passwd',
      '*',
      '/assets/../package.json',
      '/assets/%2e%2e/app.module.js',
      '/assets/..%2f..%2fpackage.json',
      '/assets/',
      '/login;a=b',
      '/LOGIN',
      '/o//token',
      'login',
      '/\\login',
      '/<script>alert(1)</script>',
    ])('finds nothing at %s', async (path) => {
      expectRefusal(await raw(`GET ${path}`, { Accept: 'text/html' }), 'GET');
      for (const method of ['GET', 'POST', 'DELETE'])
        expectRefusal(await raw(`${method} ${path}`, { Authorization: `Bearer ${admin}` }), method);
    });

    it.each([
      ['one long part', `/${'x'.repeat(10_000)}`],
      ['many parts', `/${'x/'.repeat(5_000)}`],
      ['a long id', `/v2/users/${'u'.repeat(10_000)}`],
      ['more than all headers may have', `/${'x'.repeat(100_000)}`],
    ])('refuses an address with %s', async (name, path) => {
      expectRefusal(await raw(`GET ${path}`, { Authorization: `Bearer ${token}` }), name);
    });

    it('serves the start page at two slashes instead of redirecting to another host', async () => {
      expect(placeOf(await raw('GET //'))).toEqual([200, null]);
    });

    it('answers a malformed HEAD request without a body, which would be read as the next answer', async () => {
      const [head, get] = [await raw('HEAD /\xe9'), await raw('GET /\xe9')];
      expect([head.status, head.text]).toEqual([400, '']);
      expect([get.status, get.text]).toEqual([400, expect.stringContaining('well-formed')]);
      expect(head.headers.get('content-length')).toBe(get.headers.get('content-length'));
    });

    it('closes the connection of a CONNECT request, which is meant for proxies', async () => {
      await expect(raw('CONNECT /login')).rejects.toThrow('closed the connection');
    });

    it.each(['BREW', 'get', 'PROPFIND', 'TRACE', 'OPTIONS', 'LINK', 'PURGE', 'QUERY'])(
      'refuses the method %s',
      async (method) => {
        for (const path of ['/login', '/admin/users', '/nothing'])
          expectRefusal(await raw(`${method} ${path}`), path);
      },
    );

    it.each(listOf('q=%, page_size=%zz, q=%00, q=%ed%a0%80, state=%ff, page_size=1&page_size=2, q[a]=b'))(
      'refuses the query string %s',
      async (query) => {
        for (const path of ['/o/authorize', '/v2/users', '/admin/users', '/admin/audit_events']) {
          const bearer = path === '/v2/users' ? token : admin;
          expectRefusal(await raw(`GET ${path}?${query}`, { Authorization: `Bearer ${bearer}` }), path);
        }
      },
    );
  });

  describe('given bad input in headers,', () => {
    it.each(['Cookie', 'Authorization', 'X-Request-Id', 'Accept', 'Service-Version'])(
      'refuses 100 kB of %s',
      async (name) => {
        expect((await raw('GET /login', { [name]: 'x'.repeat(100_000) })).status).toBe(431);
      },
    );

    it.each([
      ...[
        'Bearer',
        'Bearer ',
        'Bearer a b',
        'Basic',
        'Basic ====',
        'Basic Og==',
        'Digest x',
        '\xff\xfe',
        ',',
      ].map((text) => [text, text]),
      ['Bearer of 5,000 characters', `Bearer cds_at_${'x'.repeat(5_000)}`],
      ['Bearer with a wrong checksum', `Bearer cds_at_${'x'.repeat(49)}`],
      ['Basic of 8,000 characters', `Basic ${'QTpC'.repeat(2_000)}`],
    ])('refuses "Authorization: %s"', async (_name, authorization) => {
      for (const path of ['/v2/users', '/webhook_portal', '/admin/users'])
        expectRefusal(await raw(`GET ${path}`, { Authorization: authorization! }), path);
      const head = { Authorization: authorization!, 'Content-Type': FORM };
      for (const path of ['/o/token', '/o/revoke_token/', '/o/introspect'])
        expectRefusal(await raw(`POST ${path}`, head, 'grant_type=client_credentials&token=x'), path);
    });

    it('refuses refresh tokens and codes of 5,000 characters', async () => {
      for (const form of [
        { grant_type: 'refresh_token', refresh_token: `cds_rt_${'x'.repeat(5_000)}` },
        {
          grant_type: 'authorization_code',
          code: `cds_ac_${'x'.repeat(5_000)}`,
          redirect_uri: 'https://a.example/',
        },
      ]) {
        expect((await send('/o/token', { form: { ...form, ...credentials } })).json.error).toBe(
          'invalid_grant',
        );
      }
    });

    it.each(['cds_session=%zz', 'cds_session=%00', ';;;=;', 'cds_session', 'cds_csrf=x', '\xff=\xfe'])(
      'ignores malformed cookies: %s',
      async (cookie) => {
        const pages = { '/': 200, '/login': 200, '/portal': 401 };
        for (const [path, status] of Object.entries(pages))
          expect([path, (await raw(`GET ${path}`, { Cookie: cookie })).status]).toEqual([path, status]);
      },
    );
  });

  it('has stored nothing of all that', async () => expect(await rowCounts(service)).toEqual(before));
});
