import { rowCounts } from '../../support/refusals.js';
import { PAGES, type Surveyed } from '../endpoints.js';
import type { Draft, FormDraft } from './draft.js';
import { HIDING, LIVE, live } from './live.js';
import { areasOf, type Route } from './routes.js';
import type { Plan } from './survey.js';

/** Forms that no guard of an area checks. */
const OUTSIDE_OF_AREAS = ['/login', '/logout', '/password/:key', '/o/authorize', '/portal/login/:key'];

/** Forms that lead on to an application: if they are out of date, they are shown again (contract §3), or lead to the page that has them. */
const SHOWN_AGAIN: Record<string, number> = {
  '/login': 422,
  '/login/second-factor': 422,
  '/login/providers/:id': 303,
  '/o/authorize': 422,
  '/password/forgotten': 422,
  '/sign-up': 422,
};

/**
 * Defines the test that no form of a page is accepted from anywhere but that page. `everyKind`: each form also without a token and with a
 * wrong one, and not only one form of each area and those outside of areas.
 */
export function describeRefusedForms(surveyed: () => Surveyed, { everyKind = false } = {}): void {
  const where = everyKind
    ? 'on every registered route'
    : 'on every registered route; and without a token or with a wrong one, in every area';
  it(`refuse forms with the CSRF token of another form, or from another origin, ${where}`, async () => {
    const { service, exchanges, plans } = surveyed();
    const areaOf = (route: Route): string => areasOf(route)[0]!;
    const posts = plans.filter(({ route }) => route.method === 'POST' && PAGES.includes(areaOf(route)));
    expect(posts.length).toBeGreaterThan(50);
    expect(posts.map(({ route }) => route.url)).toEqual(expect.arrayContaining(OUTSIDE_OF_AREAS));
    // Each of them is a page, so that the survey finds its form.
    expect(posts.filter(({ route }) => !route.isPage)).toEqual([]);
    const firsts = PAGES.map((area) => posts.find(({ route }) => areaOf(route) === area));
    const isOfEveryKind = (plan: Plan) =>
      everyKind || firsts.includes(plan) || OUTSIDE_OF_AREAS.includes(plan.route.url);
    // What is refused changes nothing, so that all share their fixtures.
    exchanges.renew();
    const isLast = ({ plain }: Plan) => !!plain[0]!.needs?.some((name) => HIDING.includes(name));
    for (const [names, those] of [
      [LIVE.filter((name) => !HIDING.includes(name)), posts.filter((plan) => !isLast(plan))],
      [HIDING, posts.filter(isLast)],
    ] as const) {
      for (const name of names) await exchanges.fill(live(name));
      const before = await rowCounts(service);
      await exchanges.openingOnce(() => expectRefusals(those, isOfEveryKind));
      expect(await rowCounts(service)).toEqual(before);
    }
  });

  async function expectRefusals(posts: Plan[], isOfEveryKind: (plan: Plan) => boolean): Promise<void> {
    const { exchanges } = surveyed();
    for (const plan of posts) {
      const { route, plain } = plan;
      const draft = plain[0]!;
      const body = draft.body as FormDraft;
      const tokens: FormDraft['csrf'][] = isOfEveryKind(plan) ? ['wrong', 'absent', 'foreign'] : ['foreign'];
      const withToken = tokens.map((csrf) => ({
        ...draft,
        body: { ...body, csrf },
      }));
      const elsewhere: Draft = { ...draft, headers: { ...draft.headers, origin: 'https://evil.example' } };
      for (const odd of [...withToken, elsewhere]) {
        const { path, status, headers } = await exchanges.send(odd);
        if (headers.has('location')) expect(headers.get('location')).toMatch(/^\/login(\?|$)/);
        const expected = odd === elsewhere ? 403 : (SHOWN_AGAIN[route.url] ?? 403);
        expect([route.url, path, status, headers.get('content-type')]).toEqual([
          route.url,
          path,
          expected,
          expected === 303 ? 'text/plain' : 'text/html; charset=utf-8',
        ]);
      }
    }
  }
}
