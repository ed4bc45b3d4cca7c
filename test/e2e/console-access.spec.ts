import { BrowserSession, madeOnce, placeOf, rowCounts, useSharedService } from '../support/spec.js';
import { pathWith } from '../support/console.js';
import { consoleRoutes } from '../support/console-routes.js';

const ROUTES = consoleRoutes();

describe('The console', () => {
  const service = useSharedService();

  const operator = madeOnce(() => service.make.user({ role: 'operator', name: 'Olga Operator' }));
  const user = madeOnce(() => service.make.user({ name: 'Dana Driver' }));
  const client = madeOnce(() => service.make.client({ name: 'Northwind' }));
  beforeAll(async () => await service.make.consent(client, user));

  const fill = (path: string) => pathWith(path, { client_id: client.id, user_id: user.id, users: user.id });
  const send = (by: BrowserSession, { method, path }: (typeof ROUTES)[number]) =>
    by.open(fill(path), method === 'POST' ? { form: {}, headers: { origin: service.url } } : {});
  const counts = async (): Promise<Record<string, number>> => ({
    ...(await rowCounts(service)),
    activity_hours: 0,
  });

  it('has all the routes that are tested here', () => {
    expect(ROUTES.length).toBeGreaterThan(60);
    expect(new Set(ROUTES.map(({ method, path }) => `${method} ${path}`)).size).toBe(ROUTES.length);
    expect(ROUTES).toContainEqual({ method: 'POST', path: '/admin/console/clients/:client_id/delete' });
  });

  it.each(ROUTES)(
    'redirects a visitor who is not signed in from $method $path to the login page',
    async (route) => {
      const answer = await send(new BrowserSession(service.url), route);
      const returnTo = route.method === 'POST' ? '/admin/console' : fill(route.path);
      const login = `/login?${new URLSearchParams({ return_to: returnTo }).toString()}`;
      expect(placeOf(answer)).toEqual([route.method === 'POST' ? 303 : 302, login]);
      expect(answer.text).toBe('');
    },
  );

  describe('for a signed-in user without the operator role', () => {
    const browser = madeOnce(() => service.make.signedIn(user));
    let before: Record<string, number>;
    beforeAll(async () => void (before = await counts()));

    it.each(ROUTES)('refuses $method $path with a 403', async (route) => {
      const answer = await send(browser, route);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([403, 'text/html; charset=utf-8']);
      expect(answer.text).toContain('This page is for operators');
      expect(answer.text).not.toContain('Northwind');
    });

    it('has changed nothing by what it refused', async () => expect(await counts()).toEqual(before));
  });

  describe('for an operator', () => {
    const browser = madeOnce(() => service.make.signedIn(operator));

    it("accepts no CSRF token that was issued to another operator's session", async () => {
      const theirs = await service.make.signedInNew({ role: 'operator' });
      const page = await theirs.open('/admin/console/users/new');
      browser.cookies.set('cds_csrf', theirs.cookies.get('cds_csrf')!);
      const answer = await browser.submit(page, '/admin/console/users/new', {
        email: 'y@mail.example',
        name: 'Y',
      });
      expect(answer.status).toBe(403);
    });

    it('is closed as soon as the role is removed', async () => {
      const former = await service.make.user({ role: 'operator' });
      const theirs = await service.make.signedIn(former);
      expect((await theirs.open('/admin/console')).status).toBe(200);
      await service.database.query("UPDATE users SET role = 'user' WHERE id = $1", [former.id]);
      expect((await theirs.open('/admin/console')).status).toBe(403);
    });

    it('gives no access to the admin API, and a token gives no access to the console', async () => {
      for (const path of ['/admin/clients', '/admin/users', '/admin/audit_events'])
        expect([path, (await browser.open(path)).status]).toEqual([path, 401]);
      const bearer = await service.make.adminToken();
      for (const path of ['/admin/console', '/admin/console/clients'])
        expect([path, (await service.http.get(path, { bearer })).status]).toEqual([path, 302]);
    });
  });
});
