import fc from 'fast-check';
import { IdentityProvider } from '../support/identity-provider.js';
import { Receiver } from '../support/receiver.js';
import { startService, type TestService, WEBHOOK_ENV } from '../support/spec.js';
import { MAIL_ENV } from '../support/mail-server.js';
import { draftsOf } from './support/drafts.js';
import { REFUSED_HERE, type Draft } from './support/draft.js';
import { Exchanges, type Exchange } from './support/exchanges.js';
import { faultsOf, pageFaults } from './support/judge.js';
import { AREAS, areasOf, withRoutes, type Route } from './support/routes.js';
import { patience, search } from './support/runs.js';
import { secondClickFaults } from './support/second-click.js';
import { survey, type Plan } from './support/survey.js';
import { listOf } from '../support/list-of.js';

const ENV = {
  ...WEBHOOK_ENV,
  ...MAIL_ENV,
  TRUSTED_PROXIES: '127.0.0.1',
  RATE_LIMIT_PER_HOUR: '1000000000',
  OAUTH_RATE_LIMIT_PER_MINUTE: '1000000000',
  SESSION_RATE_LIMIT_PER_MINUTE: '1000000000',
};

export const PAGES = listOf(`
  pages of users, callbacks of providers, invitations, the portal, the sandbox, the console
`);
export const PROGRAMS = listOf(`
  the OAuth endpoints, partners' endpoints, the feed of events, publishing events, reports of what was read,
  the feed of changes to access, the admin API, the sandbox for programs, answers that providers post,
  what is public
`);

/** Where valid requests share their fixtures: not where they inject faults, or are accepted for a token that has ended. */
const SHARING = ['pages of users', 'the portal', 'the console', 'the admin API'];

const isRead = ({ method }: Route): boolean => method === 'GET' || method === 'HEAD';

/** Whether it is a form that a page shows. */
const isForm = ({ body }: Draft): boolean => body !== undefined && 'page' in body;

/** A running service, with what is known about the routes of some areas. */
export interface Surveyed {
  service: TestService;
  exchanges: Exchanges;
  plans: Plan[];
}

/**
 * Defines the tests of all routes in these areas, as the framework has registered them, and further ones with the same service. `runs`: random requests to
 * each route, if any. Unless there are several, one HEAD of each area is sent, because each is the GET of its route without a body.
 */
export function describeAreas(
  names: string[],
  {
    runs = 0,
    describeMore = () => undefined,
  }: { runs?: number; describeMore?: (surveyed: () => Surveyed) => void },
): void {
  let service: TestService;
  let routes: Route[];
  let receiver: Receiver;
  let provider: IdentityProvider;
  let exchanges: Exchanges;
  let plans: Plan[];

  beforeAll(async () => {
    receiver = await Receiver.start();
    provider = await IdentityProvider.open();
    [service, routes] = await withRoutes(() => startService({ env: { ...ENV, ...provider.env({}) } }));
    provider.serveTo(service.url);
    exchanges = new Exchanges(service, receiver.url());
    const here = routes.filter((route) => areasOf(route).some((area) => names.includes(area)));
    plans = await survey(exchanges, here);
  });
  afterAll(async () => {
    exchanges.stop();
    await service.stop();
    await receiver.stop();
    await provider.close();
  });

  it('belong to exactly one area, like every other route', () => {
    for (const route of routes)
      expect([route.url, areasOf(route)]).toEqual([route.url, [expect.any(String)]]);
    // None is left out.
    expect(Object.keys(AREAS).toSorted()).toEqual([...PAGES, ...PROGRAMS].toSorted());
  });

  it('judge a body by its media type, before they read it and before anything else, and take none that is compressed', async () => {
    const bodies: [string, string, Record<string, string>?][] = [
      ['{"a', 'application/json'],
      ['a=%zz', 'application/x-www-form-urlencoded'],
      ['{}', 'application/json', { 'content-encoding': 'gzip' }],
      ['a=b', 'application/x-www-form-urlencoded', { 'content-encoding': 'br' }],
    ];
    for (const { method, url } of routes.filter((route) => !isRead(route) && route.method !== 'OPTIONS')) {
      const answers = [];
      for (const [text, type, more = {}] of bodies) {
        const headers = { 'content-type': type, ...more };
        const path = `${url.replaceAll(/:\w+/g, 'x').replace('*', 'x')}/`;
        answers.push(await exchanges.send({ method, path, query: '', headers, body: { type, text } }));
      }
      const [json, form, ...compressed] = answers.map(({ status, text }) =>
        /"The body must be application\/x-www-form-urlencoded\."/.test(text) ? 415 : status,
      );
      expect([method, url, [json, form].filter((status) => status === 415)]).toEqual([method, url, [415]]);
      expect([method, url, compressed]).toEqual([method, url, [415, 415]]);
    }
  });

  // First, because random requests to the sandbox plan events, which add rows later.
  describeMore(() => ({ service, exchanges, plans }));

  describe.each(names)('%s', (area) => {
    // Those that only read first: what comes after a change needs new fixtures.
    const plansHere = () =>
      plans
        .filter(({ route }) => areasOf(route)[0] === area)
        .filter(({ route }, n, all) => {
          const isFirstHead = all.findIndex((plan) => plan.route.method === 'HEAD') === n;
          return runs > 1 || route.method !== 'HEAD' || isFirstHead;
        })
        .toSorted((a, b) => Number(!isRead(a.route)) - Number(!isRead(b.route)));

    it('answer valid requests, so that the other tests get past the first checks; and a second click on a form as the first', async () => {
      expect(plansHere().length).toBeGreaterThan(0);
      const refused: string[] = [];
      for (const { route, plain, shown } of plansHere()) {
        for (const draft of plain) {
          const exchange = shown ?? (await sendValid(draft, route, area));
          const seen = `${route.method} ${exchange.path}: ${exchange.status} ${exchange.text.slice(0, 300)}`;
          // Contract §9: a client-credentials token has no user.
          if (exchange.path.startsWith('/v2/users/me') && exchange.status === 404) continue;
          // The route for unknown pages of the console always answers 404.
          if (route.url.endsWith('/*') && exchange.status === 404) continue;
          // Nobody has uploaded a logo.
          if (route.url === '/logos/:digest' && exchange.status === 404) continue;
          // Contract §17: only a person approves.
          if (route.url === '/admin/approvals/:id/approve' && exchange.status === 403) continue;
          // A login through a provider is only finished by GET.
          if (route.method === 'HEAD' && route.url === '/login/callback/:id' && exchange.status === 405)
            continue;
          if ([401, 403, 404, 405, 406, 415].includes(exchange.status)) throw new Error(seen);
          const faults = [...faultsOf(exchange, service.url), ...pageFaults(exchange)];
          if (isForm(draft)) {
            if (exchange.status >= 400) refused.push(route.url);
            else faults.push(...(await secondClickFaults(exchanges, exchange)));
          }
          expect([seen, faults]).toEqual([seen, []]);
        }
      }
      expect(refused.filter((url) => !(url in REFUSED_HERE))).toEqual([]);
    });

    if (runs === 0) return;
    it(
      'answer any request as documented, and never with an internal error',
      async () => {
        for (const plan of plansHere()) await checkRoute(plan);
      },
      600_000 * patience(runs),
    );
  });

  /** Reads change nothing: the routes that only read share their fixtures, which cost more than the requests. */
  function sendValid(draft: Draft, route: Route, area: string): Promise<Exchange> {
    if (isRead(route)) return exchanges.send(draft);
    if (SHARING.includes(area)) return exchanges.sendValid(draft);
    exchanges.renew();
    return exchanges.send(draft);
  }

  /** What is refused changes nothing: only after an accepted change there are new fixtures. */
  async function checkRoute(plan: Plan): Promise<void> {
    const property = fc.asyncProperty(draftsOf(plan), async (draft: Draft) => {
      const exchange = await exchanges.send(draft);
      const faults = faultsOf(exchange, service.url);
      if (faults.length === 0) return;
      const { method, path, status, text } = exchange;
      throw new Error(`${faults.join('; ')}\n${status} of ${method} ${path}\n${text.slice(0, 500)}`);
    });
    const result = await fc.check(
      property,
      // Each HEAD is a GET without its body, and GET has runs of its own.
      search<[Draft]>(plan.route.method === 'HEAD' ? 1 : runs),
    );
    if (!result.failed) return;
    const words = [`${plan.route.method} ${plan.route.url}`, await fc.asyncDefaultReportMessage(result)];
    throw new Error([...words, String(result.errorInstance)].join('\n'));
  }
}
