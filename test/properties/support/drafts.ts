import fc from 'fast-check';
import { METHODS } from 'node:http';
import { CALLERS, SPOILT, type BodyDraft, type Draft, type FormDraft } from './draft.js';
import { anyJson, brokenJson, memberName, written } from './json-text.js';
import { headerText, oddText, percentEncoded, urlText } from './odd-text.js';
import { pathWith } from './routes.js';
import { liveText, nearlyJson } from './schema-json.js';
import type { ShownField } from './shown-forms.js';
import type { Plan } from './survey.js';

const FORM = 'application/x-www-form-urlencoded';
const TYPES = [
  ...[
    'application/json',
    FORM,
    'text/plain',
    'application/xml',
    'multipart/form-data; boundary=x',
    'text/html',
  ],
  ...[
    'application/json; charset=utf-16',
    `${FORM}; charset=latin1`,
    'application/json;;',
    'application/*',
    '*/*',
  ],
  ...['application/problem+json', 'APPLICATION/JSON', 'application/json, text/plain', '/', 'json', ''],
];
// CONNECT gets no answer; the raw-bytes tests cover it.
const methods = METHODS.filter((method) => method !== 'CONNECT');

/** Usually the first one, otherwise one of the others. */
const mostly = <T>(weight: number, usual: fc.Arbitrary<T>, ...others: fc.Arbitrary<T>[]): fc.Arbitrary<T> =>
  fc.oneof({ weight, arbitrary: usual }, ...others.map((arbitrary) => ({ weight: 1, arbitrary })));

/** Requests to a route that are nearly valid, or not at all. */
export function draftsOf(plan: Plan): fc.Arbitrary<Draft> {
  return fc
    .record({
      plain: fc.constantFrom(...plan.plain),
      method: mostly(12, fc.constant(plan.route.method), fc.constantFrom(...methods)),
      path: pathOf(plan),
      query: queryOf(plan),
      caller: mostly<Record<string, string>>(
        4,
        fc.constant(CALLERS[plan.caller]),
        fc.constantFrom(...Object.values(CALLERS)),
        oddCaller(),
      ),
      headers: oddHeaders(),
      body: bodyOf(plan),
    })
    .map(({ plain, method, path, query, caller, headers, body }) => ({
      method,
      path: path ?? plain.path,
      query: query ?? plain.query,
      headers: { ...caller, ...headers },
      ...(plain.needs ? { needs: plain.needs } : {}),
      ...(method === 'TRACE' || body === null ? {} : { body: body ?? plain.body }),
    }));
}

/** Undefined means a valid path. */
function pathOf({ route, parameters }: Plan): fc.Arbitrary<string | undefined> {
  const values = parameters.map((choices) => mostly(3, fc.constantFrom(...choices), liveText(), urlText()));
  const filled = fc.tuple(...values).map((each) => pathWith(route.url, each));
  const ends = fc.constantFrom(
    '/',
    '//',
    '/.',
    '/..',
    '/../',
    '%2f',
    ';a=b',
    '%00',
    '/x',
    '.json',
    '%20',
    '#',
  );
  const spoilt = fc.tuple(filled, mostly(1, ends, urlText())).map(([path, end]) => path + end);
  const asMeant = fc.constant(undefined);
  if (parameters.length === 0)
    return mostly(
      9,
      asMeant,
      spoilt,
      filled.map((path) => path.toUpperCase()),
    );
  return mostly<string | undefined>(2, filled, filled, asMeant, spoilt);
}

function queryOf({ route, query }: Plan): fc.Arbitrary<string | undefined> {
  const names = [...query.keys(), 'page_size', 'page_after', 'page_before', 'q'];
  const value = (name: string) => {
    const known = query.get(name) ?? [];
    const usual = fc.constantFrom(...known, '1', '100', 'true', '2026-01-31T08:00', '2026-01-31T08:00:00Z');
    return fc.oneof(usual.map(percentEncoded), urlText(), liveText());
  };
  const pair = mostly(6, fc.constantFrom(...names), memberName().map(percentEncoded), urlText()).chain(
    (name) => value(name).map((each) => `${name}=${each}`),
  );
  const some = fc.array(pair, { maxLength: 4 }).map((pairs) => pairs.join('&'));
  const twice = pair.map((each) => `${each}&${each}`);
  const nested = pair.map((each) => each.replace('=', '[a]='));
  const none = fc.constant(undefined);
  const isRead = route.method === 'GET' || route.method === 'HEAD';
  return isRead
    ? mostly<string | undefined>(6, some, none, none, twice, nested, urlText())
    : mostly(9, none, some);
}

const oddCaller = (): fc.Arbitrary<Record<string, string>> => {
  const scheme = fc.constantFrom('Bearer ', 'bearer ', 'Basic ', 'Digest ', 'Bearer', '', 'Bearer  ');
  const tail = fc.oneof(
    headerText(),
    liveText(),
    oddText().map((text) => Buffer.from(text).toString('base64')),
  );
  const authorization = fc.tuple(scheme, tail).map(([a, b]) => ({ authorization: a + b }));
  const names = fc.constantFrom(
    'cds_session',
    'cds_portal_session',
    'cds_csrf',
    'cds_known_browser',
    'cds_console_notice',
    '__proto__',
  );
  const cookie = fc
    .array(fc.tuple(names, fc.oneof(headerText(), liveText())), { maxLength: 4 })
    .map((pairs) => ({ cookie: pairs.map(([name, text]) => `${name}=${text}`).join('; ') }));
  return fc.oneof<fc.Arbitrary<Record<string, string>>[]>(authorization, cookie);
};

const HEADERS: Record<string, string[]> = {
  accept: [
    'text/html',
    'application/json',
    '*/*;q=0',
    'image/png',
    'text/html;q=nonsense',
    ',,',
    'application/problem+json',
  ],
  'accept-encoding': ['gzip', 'identity;q=0, *;q=0'],
  'content-encoding': ['gzip', 'identity'],
  'service-version': ['2', '2.0', '3', '02', '1e0', '+2', '2,2', 'v2'],
  'x-request-id': ['abc-1', 'x'.repeat(129), 'cds_at_x', '../x', 'a b'],
  'x-forwarded-for': [
    '::1',
    '1.2.3.4, 5.6.7.8',
    'unknown',
    '300.1.1.1',
    '[::1]:80',
    '1.2.3.4:80',
    ',',
    'fe80::1%eth0',
    '::ffff:1.2.3.4',
  ],
  'x-forwarded-proto': ['https', 'javascript'],
  'x-forwarded-host': ['evil.example', '<'],
  origin: ['null', 'https://evil.example', 'http://127.0.0.1'],
  host: ['evil.example', 'a b', '[::1'],
  referer: ['https://evil.example/'],
  'user-agent': ['curl/8', 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0'],
  range: ['bytes=0-0', 'bytes=-1', 'bytes=9-1', 'bytes=0-1,2-3,x'],
  'if-none-match': ['*', '"x"'],
  'if-modified-since': ['yesterday', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  'idempotency-key': ['one', 'x'.repeat(300)],
  'access-control-request-method': ['POST', 'x'],
  'access-control-request-headers': ['authorization', '*'],
  'x-http-method-override': ['DELETE'],
  purpose: ['prefetch'],
};

function oddHeaders(): fc.Arbitrary<Record<string, string>> {
  const header = fc
    .constantFrom(...Object.keys(HEADERS))
    .chain((name) =>
      fc
        .oneof(fc.constantFrom(...HEADERS[name]!), headerText())
        .map((value): [string, string] => [name, value]),
    );
  const type = fc.constantFrom(...TYPES).map((value): [string, string] => ['content-type', value]);
  const none = fc.constant<[string, string][]>([]);
  return mostly(
    5,
    fc.array(header, { maxLength: 2 }),
    none,
    type.map((each) => [each]),
  ).map(Object.fromEntries);
}

/** Undefined means a valid body; null means none. */
function bodyOf(plan: Plan): fc.Arbitrary<BodyDraft | FormDraft | null | undefined> {
  const { route, schema } = plan;
  const asMeant = fc.constant(undefined);
  const json = (text: fc.Arbitrary<string>) => text.map((each) => ({ type: 'application/json', text: each }));
  const odd = fc.oneof(json(anyJson().map(written)), json(brokenJson()), formBody(plan), anyBody());
  const none = fc.constant(null);
  if (route.method === 'GET' || route.method === 'HEAD')
    return mostly<BodyDraft | FormDraft | null | undefined>(20, none, odd);
  const template = plan.plain.find(({ body }) => body && 'page' in body)?.body as FormDraft | undefined;
  if (template)
    return mostly<BodyDraft | FormDraft | null | undefined>(
      8,
      pageForm(template, plan.fields),
      asMeant,
      none,
      odd,
    );
  const good = schema ? json(nearlyJson(schema).map(written)) : formBody(plan);
  const spoilt = fc.tuple(good, fc.constantFrom(...SPOILT)).map(([body, how]) => ({ ...body, spoilt: how }));
  return mostly<BodyDraft | FormDraft | null | undefined>(8, good, asMeant, none, odd, spoilt);
}

const anyBody = (): fc.Arbitrary<BodyDraft> =>
  fc.record({ type: fc.constantFrom(undefined, ...TYPES), text: oddText() });

const fieldValue = (): fc.Arbitrary<string> =>
  fc.oneof(oddText(), liveText(), fc.constantFrom('1', 'on', 'true'));

/** Parameters of the endpoints for programs, some of them odd, repeated or unknown. */
function formBody({ plain }: Plan): fc.Arbitrary<BodyDraft> {
  const forms = plain.flatMap(({ body }) =>
    body && 'text' in body && body.type === FORM ? [body.text] : [],
  );
  const names = [
    'grant_type',
    'scope',
    'client_id',
    'client_secret',
    'token',
    'code',
    'redirect_uri',
    'user_id',
    'code_verifier',
    'refresh_token',
    'token_type_hint',
    'csrf_token',
    'decision',
  ];
  const pair = fc
    .tuple(mostly(8, fc.constantFrom(...names), memberName()), fieldValue())
    .map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value).replaceAll('%40%40', '@@')}`);
  const further = mostly(
    3,
    fc.array(pair, { maxLength: 3 }),
    fc.array(pair, { minLength: 99, maxLength: 110 }),
  );
  return fc
    .tuple(fc.constantFrom('', ...forms), further, mostly(6, fc.constant(''), urlText()))
    .map(([form, pairs, tail]) => ({ type: FORM, text: [form, ...pairs, tail].join('&') }));
}

function pageForm(template: FormDraft, fields: ShownField[]): fc.Arbitrary<FormDraft> {
  const values = ({ choices }: ShownField) =>
    fc.array(fc.oneof(fieldValue(), fc.constantFrom(...choices, '')), { maxLength: 2 });
  const changes = fields
    .filter(({ name }) => name !== 'csrf_token')
    .map((field) =>
      mostly(2, fc.constant(undefined), values(field)).map((each) => [field.name, each] as const),
    );
  const changed = fc
    .tuple(...changes)
    .map(
      (each) =>
        Object.fromEntries(each.filter(([, value]) => value !== undefined)) as Record<string, string[]>,
    );
  return fc.record({
    page: fc.constant(template.page),
    action: fc.constant(template.action),
    csrf: mostly(
      8,
      fc.constant('right' as const),
      fc.constant('absent' as const),
      fc.constant('wrong' as const),
    ),
    fields: changed,
    further: mostly(6, fc.constant([]), fc.array(fc.tuple(memberName(), fieldValue()), { maxLength: 2 })),
    tail: mostly(
      9,
      fc.constant(''),
      urlText().map((text) => `&${text}`),
    ),
  });
}
