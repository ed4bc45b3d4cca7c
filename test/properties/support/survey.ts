import type { Schema } from '#entrypoints/api-docs/openapi.js';
import { committedDocument, deref } from '../../support/openapi-document.js';
import { CALLERS, FORMS, NEEDS, QUERIES, TYPED_AT, type Draft, type FormDraft } from './draft.js';
import type { Exchange, Exchanges } from './exchanges.js';
import { written } from './json-text.js';
import { HIDING, LIVE, live } from './live.js';
import { operationOf, parametersOf, pathWith, AREAS, areasOf, type Route } from './routes.js';
import { plainJson } from './schema-json.js';
import { readPage, type ShownField } from './shown-forms.js';

/** What is known about a route before odd requests are sent to it. */
export interface Plan {
  route: Route;
  caller: keyof typeof CALLERS;
  /** Valid requests. */
  plain: Draft[];
  parameters: string[][];
  /** The names of its query parameters, with the values that pages use. */
  query: Map<string, string[]>;
  fields: ShownField[];
  schema?: Schema;
  /** What a page answered when it was looked at: the answer to its valid request. */
  shown?: Exchange;
}

/** Where the pages of others have the forms. */
const SHOWN_ELSEWHERE = 'answers that providers post';

interface FoundForm {
  page: string;
  caller: keyof typeof CALLERS;
  action: string;
  fields: ShownField[];
}

/** Opens every page, and returns a plan for each route. Throws for a form that no page shows. */
export async function survey(exchanges: Exchanges, routes: Route[]): Promise<Plan[]> {
  const { forms, queries, shown } = await lookAtPages(exchanges, routes);
  const posts = routes.filter(
    (route) => route.isPage && route.method === 'POST' && areasOf(route)[0] !== SHOWN_ELSEWHERE,
  );
  const missing = posts.filter(({ url }) => !forms.has(`POST ${url}`)).map(({ url }) => url);
  if (missing.length > 0) throw new Error(`No page shows a form that leads to ${missing.join(', ')}.`);
  return routes.map((route) => {
    const parameters = parametersOf(route);
    const operation = operationOf(route);
    const form = forms.get(`${route.method} ${route.url}`);
    const query = queries.get(route.url) ?? new Map<string, string[]>();
    for (const { in: where, name } of operation?.parameters ?? []) if (where === 'query') query.set(name, []);
    const described = operation?.requestBody?.content['application/json']?.schema;
    const schema = described && deref(committedDocument, described);
    const usual = route.url === '/o/introspect' ? 'service' : AREAS[areasOf(route)[0]!]!.caller;
    const caller = form?.caller ?? usual;
    return {
      route,
      caller,
      plain: plainOf(route, caller, parameters, schema, form),
      parameters,
      query,
      fields: form?.fields ?? [],
      schema,
      shown: route.method === 'GET' ? shown.get(route.url) : undefined,
    };
  });
}

/** Combinations of parameter values: the first of each, and each other value once. */
function combinations(parameters: string[][]): string[][] {
  const first = parameters.map((each) => each[0]!);
  const others = parameters.flatMap((each, at) => each.slice(1).map((value) => first.with(at, value)));
  return [first, ...others];
}

function plainOf(
  route: Route,
  caller: keyof typeof CALLERS,
  parameters: string[][],
  schema: Schema | undefined,
  form: FoundForm | undefined,
): Draft[] {
  const slash = route.url === '/o/revoke_token' ? '/' : '';
  const path = pathWith(route.url, combinations(parameters)[0]!) + slash;
  const needs = NEEDS[route.url];
  const draft: Draft = {
    method: route.method,
    path,
    query: '',
    headers: CALLERS[caller],
    ...(needs ? { needs } : {}),
  };
  if (route.method === 'GET' || route.method === 'HEAD')
    return [{ ...draft, query: QUERIES[route.url] ?? '' }];
  if (form) {
    const body: FormDraft = {
      page: form.page,
      action: form.action,
      csrf: 'right',
      fields: TYPED_AT[route.url] ?? {},
      further: [],
      tail: '',
    };
    return [{ ...draft, path: form.action, body }];
  }
  if (schema) return [{ ...draft, body: { type: 'application/json', text: written(plainJson(schema)) } }];
  const forms = FORMS[route.url];
  if (!forms) return [draft];
  const type = 'application/x-www-form-urlencoded';
  return forms.map((fields) => ({ ...draft, body: { type, text: formText(fields) } }));
}

/** Placeholders stay unchanged, to be filled in later. */
const formText = (fields: Record<string, string>): string =>
  new URLSearchParams(fields).toString().replaceAll('%40%40', '@@');

async function lookAtPages(exchanges: Exchanges, routes: Route[]) {
  const forms = new Map<string, FoundForm>();
  const queries = new Map<string, Map<string, string[]>>();
  const shown = new Map<string, Exchange>();
  // Pages only show fixtures that exist.
  for (const name of LIVE) if (!HIDING.includes(name)) await exchanges.fill(live(name));
  const pages = routes.filter(({ method, isPage }) => isPage && method === 'GET');
  for (const route of pages) await lookAt(route);
  for (const name of HIDING) await exchanges.fill(live(name));
  for (const route of pages.filter(({ url }) =>
    ['/account', '/account/export', '/portal/credentials'].includes(url),
  ))
    await lookAt(route);
  return { forms, queries, shown };

  async function lookAt(route: Route): Promise<void> {
    const usual = AREAS[areasOf(route)[0]!]!.caller;
    for (const [n, values] of combinations(parametersOf(route)).entries()) {
      // Some pages show another form to visitors than to signed-in users; those of the console lead them to the login.
      const callers = n === 0 && usual !== 'console' ? ([usual, 'visitor'] as const) : [usual];
      for (const caller of callers) {
        const [path, query] = [pathWith(route.url, values), QUERIES[route.url] ?? ''];
        const exchange = await exchanges.send({ method: 'GET', path, query, headers: CALLERS[caller] });
        if (n === 0 && caller === usual) shown.set(route.url, exchange);
        const page = query === '' ? path : `${path}?${query}`;
        await noteForms(readPage(exchange.text, await exchanges.fill(page)), page, caller);
      }
    }
  }

  async function noteForms(
    { forms: found, links }: ReturnType<typeof readPage>,
    page: string,
    caller: FoundForm['caller'],
  ): Promise<void> {
    for (const { action, method, fields } of found) {
      const target = routeOf(routes, method.toUpperCase(), action);
      const known = forms.get(`${target?.method} ${target?.url}`);
      if (!target || known) continue;
      // Other pages of the portal show this form for other clients only.
      if (target.url === '/portal/sign-in/:client_id' && page !== '/portal/sign-in') continue;
      if (method === 'get')
        for (const { name, choices, values } of fields) noteQuery(target.url, name, [...choices, ...values]);
      else
        forms.set(`${target.method} ${target.url}`, {
          page,
          caller,
          action: await actionOf(exchanges, target, action),
          fields,
        });
    }
    for (const link of links) {
      const url = new URL(link, 'http://here.invalid');
      const target = url.host === 'here.invalid' && routeOf(routes, 'GET', url.pathname);
      if (target) for (const [name, value] of url.searchParams) noteQuery(target.url, name, [value]);
    }
  }

  function noteQuery(url: string, name: string, values: string[]): void {
    const known = queries.get(url) ?? new Map<string, string[]>();
    queries.set(url, known.set(name, [...new Set([...(known.get(name) ?? []), ...values])].slice(0, 12)));
  }
}

const patterns = new Map<string, RegExp>();

function patternOf(url: string): RegExp {
  const known = patterns.get(url) ?? new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`);
  patterns.set(url, known);
  return known;
}

/** Returns the route of an address; a fixed part takes precedence over a parameter. */
function routeOf(routes: Route[], method: string, address: string): Route | undefined {
  const path = address.split(/[?#]/, 1)[0]!.replace(/(.)\/$/, '$1');
  const fitting = routes.filter((route) => route.method === method && patternOf(route.url).test(path));
  return fitting.sort((a, b) => (a.url.match(/:/g)?.length ?? 0) - (b.url.match(/:/g)?.length ?? 0))[0];
}

/** Returns the form's action, with placeholders in place of their values. */
async function actionOf(exchanges: Exchanges, target: Route, action: string): Promise<string> {
  const parts = new RegExp(`^${target.url.replace(/:\w+/g, '([^/]+)')}/?$`).exec(
    action.split(/[?#]/, 1)[0]!,
  )!;
  const values = parametersOf(target).map(async (choices, at) => {
    const filled = await Promise.all(choices.map((choice) => exchanges.fill(choice)));
    return choices[filled.indexOf(parts[at + 1]!)] ?? choices[0]!;
  });
  const end = parts[0].endsWith('/') && target.url !== '/' ? '/' : '';
  return pathWith(target.url, await Promise.all(values)) + end;
}
