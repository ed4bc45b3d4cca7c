import { rowCounts } from '../../support/refusals.js';
import type { Surveyed } from '../endpoints.js';
import type { Draft, FormDraft } from './draft.js';
import { HIDING, LIVE, live } from './live.js';
import type { Plan } from './survey.js';

/** Defines the test that no form of a page is accepted from anywhere but that page. */
export function describeRefusedForms(surveyed: () => Surveyed): void {
  it('refuse forms without a valid CSRF token, with that of another form, or from another origin, on every registered route', async () => {
    const { service, exchanges, plans } = surveyed();
    const posts = plans.filter(({ route }) => route.method === 'POST');
    expect(posts.length).toBeGreaterThan(50);
    const outsideOfAreas = ['/login', '/logout', '/password/:key', '/o/authorize', '/portal/login/:key'];
    expect(posts.map(({ route }) => route.url)).toEqual(expect.arrayContaining(outsideOfAreas));
    // Each of them is a page, so that the survey finds its form.
    expect(posts.filter(({ route }) => !route.isPage)).toEqual([]);
    // What is refused changes nothing, so that all share their fixtures.
    exchanges.renew();
    const isLast = ({ plain }: Plan) => !!plain[0]!.needs?.some((name) => HIDING.includes(name));
    for (const [names, those] of [
      [LIVE.filter((name) => !HIDING.includes(name)), posts.filter((plan) => !isLast(plan))],
      [HIDING, posts.filter(isLast)],
    ] as const) {
      for (const name of names) await exchanges.fill(live(name));
      const before = await rowCounts(service);
      await exchanges.openingOnce(() => expectRefusals(those));
      expect(await rowCounts(service)).toEqual(before);
    }
  });

  async function expectRefusals(posts: Plan[]): Promise<void> {
    const { exchanges } = surveyed();
    for (const { route, plain } of posts) {
      const draft = plain[0]!;
      const body = draft.body as FormDraft;
      const withToken = (['wrong', 'absent', 'foreign'] as const).map((csrf) => ({
        ...draft,
        body: { ...body, csrf },
      }));
      const elsewhere: Draft = { ...draft, headers: { ...draft.headers, origin: 'https://evil.example' } };
      for (const odd of [...withToken, elsewhere]) {
        const { path, status, headers } = await exchanges.send(odd);
        expect([route.url, path, status, headers.get('content-type')]).toEqual([
          route.url,
          path,
          403,
          'text/html; charset=utf-8',
        ]);
      }
    }
  }
}
