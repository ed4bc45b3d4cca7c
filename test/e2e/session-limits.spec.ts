import type { FastifyRequest } from 'fastify';
import type { SessionHolder } from '#platform/http/guards/session-limits.js';
import { RateLimitsService } from '#access/rate-limits/rate-limits.service.js';
import { withRoutes, type Route } from '../properties/support/routes.js';
import { BrowserSession, enterPortal, madeForEach, startService, type TestService } from '../support/spec.js';
import { countFor, expectPlainRefusal, newAddress, statusesOf } from '../support/rate-limits.js';
import { statementsDuring } from '../support/statements.js';
import { openMembersPortal } from '../support/without-pages.js';

const LIMIT = 5;

/* Contract §7: requests with a session. */
describe('The limit of requests with a session', () => {
  let service: TestService;
  let routes: Route[];
  beforeAll(async () => {
    const env = { SESSION_RATE_LIMIT_PER_MINUTE: String(LIMIT), TRUSTED_PROXIES: '127.0.0.1' };
    [service, routes] = await withRoutes(() => startService({ env }));
  });

  /** As if these had sent so many requests. */
  const useUp = async (holder: SessionHolder): Promise<void> => {
    for (let n = 0; n < LIMIT; n++) {
      await service.app
        .get(RateLimitsService)
        .countSessions({ ip: newAddress() } as FastifyRequest, holder)
        .catch(() => undefined);
    }
  };
  const owner = madeForEach(() => service.make.user({ kind: 'organisation' }));
  const operator = madeForEach(() => service.make.user({ role: 'operator' }));
  const client = madeForEach(() => service.make.client({ ownerId: owner.id }));
  const holderOf = (kind: Kind): SessionHolder =>
    kind === 'link' ? `client ${client.id}` : `user ${kind === 'operator' ? operator.id : owner.id}`;

  type Kind = 'user' | 'operator' | 'member' | 'link';
  const browserOf = async (kind: Kind): Promise<BrowserSession> => {
    if (kind === 'link') return enterPortal(service, client);
    const browser = await service.make.signedIn(kind === 'operator' ? operator : owner);
    if (kind === 'member') await openMembersPortal(service, browser, client.id);
    return browser;
  };

  const PAGES: [path: string, kind: Kind][] = [
    ['/account', 'user'],
    ['/login', 'user'],
    ['/portal/sign-in', 'user'],
    ['/', 'user'],
    ['/docs/guides/first-token', 'user'],
    ['/docs/guides/first-token', 'link'],
    ['/o/authorize', 'user'],
    ['/portal', 'member'],
    ['/portal', 'link'],
    ['/portal/deliveries/csv', 'link'],
    ['/admin/console', 'operator'],
    // Of nothing, and with a wrong method.
    ['/nothing', 'user'],
    ['/portal/nothing', 'link'],
    ['/account/receipts/nothing/nothing', 'user'],
    ['/webhook_portal/nothing', 'member'],
  ];

  it.each(PAGES)('counts %s with the session of a %s, and refuses one too many', async (path, kind) => {
    const browser = await browserOf(kind);
    // An unknown address looks no session up.
    await browser.open('/docs/guides/first-token');
    expect((await statusesOf(LIMIT, () => browser.open(path)))[0]).not.toBe(429);
    const refused = await browser.open(path);
    expect([refused.status, refused.headers.get('content-type')]).toEqual([429, 'text/html; charset=utf-8']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(refused.html.text).toMatch(/Too many requests. Please try again in (1 minute|\d+ seconds)\./);
    // Nobody else is refused at that address.
    expect((await new BrowserSession(service.url).open(path)).status).not.toBe(429);
  });

  it('answers programs with a problem', async () => {
    const browser = await browserOf('user');
    await browser.open('/account');
    await useUp(holderOf('user'));
    expectPlainRefusal(
      await browser.open('/nothing', { headers: { accept: 'application/json' } }),
      service.url,
      60,
    );
  });

  it('counts all sessions of an account together, in the portal too, and a link to the portal for its client', async () => {
    const [first, second, link, otherLink] = [
      await browserOf('user'),
      await browserOf('member'),
      await browserOf('link'),
      await browserOf('link'),
    ];
    await useUp(holderOf('user'));
    for (const browser of [first, second]) expect((await browser.open('/account')).status).toBe(429);
    expect((await second.open('/portal')).status).toBe(429);
    expect((await link.open('/portal')).status).toBe(200);
    await useUp(holderOf('link'));
    for (const browser of [link, otherLink]) expect((await browser.open('/portal')).status).toBe(429);
  });

  it('refuses every page before anything is looked up, whatever it is asked for', async () => {
    const browser = await browserOf('member');
    await browser.open('/portal');
    await useUp(holderOf('member'));
    const pages = routes.filter(({ isPage }) => isPage);
    expect(pages.length).toBeGreaterThan(200);
    const statements = await statementsDuring(service, async () => {
      for (const { method, url } of pages) {
        const { status } = await browser.open(url.replaceAll(/:\w+/g, 'x').replace('*', 'x'), { method });
        expect([method, url, status]).toEqual([method, url, 429]);
      }
    });
    expect(statements).toEqual([]);
  });

  it('does not count a refused form for the address, too', async () => {
    const address = newAddress();
    await countFor(service, address, service.settings.oauthRateLimit * 10 - 1);
    const browser = await browserOf('user');
    const send = () =>
      browser.open('/account/notifications/x', { form: {}, headers: { 'x-forwarded-for': address } });
    for (let n = 0; n < 3; n++) expect((await send()).status).toBe(403);
  });
});
