import { rowCounts } from '../support/refusals.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { Receiver } from '../support/receiver.js';
import { startService, type TestService } from '../support/test-service.js';
import { MAIL_ENV } from '../support/mail-server.js';
import { WEBHOOK_ENV } from '../support/webhooks.js';
import type { Draft, FormDraft } from './support/draft.js';
import { Exchanges } from './support/exchanges.js';
import { areasOf, withRoutes, type Route } from './support/routes.js';
import { survey } from './support/survey.js';

const AREAS_OF_PAGES = ['pages of users', 'invitations', 'the portal', 'the sandbox', 'the console'];

describe('Forms of pages', () => {
  let service: TestService;
  let routes: Route[];
  let receiver: Receiver;
  let provider: IdentityProvider;
  let exchanges: Exchanges;

  beforeAll(async () => {
    receiver = await Receiver.start();
    provider = await IdentityProvider.open();
    [service, routes] = await withRoutes(() =>
      startService({
        env: { ...WEBHOOK_ENV, ...MAIL_ENV, ...provider.env({}), TRUSTED_PROXIES: '127.0.0.1' },
      }),
    );
    provider.serveTo(service.url);
    exchanges = new Exchanges(service, receiver.url());
  });
  afterAll(async () => {
    exchanges.stop();
    await service.stop();
    await receiver.stop();
    await provider.close();
  });

  it('are refused without a valid CSRF token, or from another origin, on every registered route', async () => {
    const here = routes.filter((route) => AREAS_OF_PAGES.includes(areasOf(route)[0]!));
    const posts = here.filter(({ method }) => method === 'POST');
    expect(posts.length).toBeGreaterThan(50);
    const outsideOfAreas = ['/login', '/logout', '/password/:key', '/o/authorize', '/portal/login/:key'];
    expect(posts.map(({ url }) => url)).toEqual(expect.arrayContaining(outsideOfAreas));
    // Each of them is a page, so that the survey finds its form.
    expect(posts.filter(({ isPage }) => !isPage)).toEqual([]);
    for (const { route, plain } of await survey(exchanges, here)) {
      if (route.method !== 'POST') continue;
      exchanges.renew();
      const draft = plain[0]!;
      const body = draft.body as FormDraft;
      const wrong: Draft = { ...draft, body: { ...body, csrf: 'wrong' } };
      const elsewhere: Draft = { ...draft, headers: { ...draft.headers, origin: 'https://evil.example' } };
      // The first one creates what the path, the page and the credentials name.
      await exchanges.send(wrong);
      const before = await rowCounts(service);
      for (const odd of [wrong, { ...draft, body: { ...body, csrf: 'absent' as const } }, elsewhere]) {
        const { path, status, headers } = await exchanges.send(odd);
        expect([route.url, path, status, headers.get('content-type')]).toEqual([
          route.url,
          path,
          403,
          'text/html; charset=utf-8',
        ]);
      }
      expect([route.url, await rowCounts(service)]).toEqual([route.url, before]);
    }
  });
});
