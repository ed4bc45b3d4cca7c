import { consoleRoutes, mayUseRoute } from '#entrypoints/admin/console/console-routes.js';
import '#entrypoints/admin/console/console.module.js';
import { roleIncludes } from '#platform/config/operator-role.js';
import type { BrowserSession, Page } from '../support/browser-session.js';
import { madeOnce, rowCounts, unexpectedErrors, useSharedService, WEBHOOK_ENV } from '../support/spec.js';
import { CONSOLE, pathWith, seedDecisions } from '../support/console.js';
import { makeEndpoint, seedDelivery, wordsOf } from '../support/portal.js';

const LIMITED = ['viewer', 'support'] as const;
const REFUSED = 'This requires the role';

describe('In the console, an operator', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });
  let ids: Record<string, string>;
  const browsers = {} as Record<(typeof LIMITED)[number], BrowserSession>;

  const driver = madeOnce(() => service.make.user({ name: 'Dana Driver' }));
  const admin = madeOnce(() => service.make.user({ role: 'operator', name: 'Adam Admin' }));
  const client = madeOnce(() => service.make.client({ name: 'Northwind' }));
  beforeAll(async () => {
    await service.make.consent(client, driver);
    await service.make.tokens(client, driver);
    const endpoint = await makeEndpoint(service, client);
    const delivery = await seedDelivery(service, endpoint, { state: 'failed', isTest: true });
    const grant = 'SELECT id FROM grants WHERE client_id = $1';
    await service.http.get('/v2/users', { headers: { 'x-request-id': 'seen-by-roles' } });
    ids = {
      requests: 'seen-by-roles',
      endpoints: endpoint.id,
      deliveries: delivery,
      users: driver.id,
      grants: await service.database.value(grant, [client.id]),
      ...(await seedDecisions(service, { user: driver, client, by: admin.id })),
    };
    for (const operatorRole of LIMITED)
      browsers[operatorRole] = await service.make.signedInNew({ role: 'operator', operatorRole });
  });

  const fill = (path: string) => pathWith(path, { client_id: client.id, user_id: driver.id, ...ids });
  const post = (browser: BrowserSession, path: string) =>
    browser.open(path, { form: {}, headers: { origin: service.url } });
  /** The forms and links of the page that lead into the console, without its navigation. */
  const actionsOn = ({ html }: Page): ['GET' | 'POST', string][] => {
    for (const each of html.querySelectorAll('nav, form[method="get"]')) each.remove();
    const of = (selector: string, name: string) =>
      html.querySelectorAll(selector).map((each) => each.getAttribute(name)!.split('?')[0]!);
    const all = [
      ...of('form[method="post"]', 'action').map((path): ['POST', string] => ['POST', path]),
      ...of('a[href]', 'href').map((path): ['GET', string] => ['GET', path]),
    ];
    return all.filter(([, path]) => path.startsWith(CONSOLE));
  };

  describe.each(LIMITED)('with the role %s', (role) => {
    const routes = consoleRoutes();

    describe('is refused', () => {
      let before: Record<string, number>;
      beforeAll(async () => void (before = await rowCounts(service)));

      it.each(routes.filter(({ least }) => !roleIncludes(role, least)))(
        '$method $path, with the role it needs',
        async ({ method, path, least }) => {
          const answer =
            method === 'POST'
              ? await post(browsers[role], fill(path))
              : await browsers[role].open(fill(path));
          expect([answer.status, wordsOf(answer)]).toEqual([
            403,
            expect.stringContaining(`${REFUSED} ${least}. Your role is ${role}`),
          ]);
          expect(answer.html.querySelector('h1')!.text).toBe('Your role does not allow this');
          expect(answer.html.querySelector('nav[aria-label="Console"]')).not.toBeNull();
        },
      );

      it('and nothing has changed by all of that', async () =>
        expect(await rowCounts(service)).toEqual(before));
    });

    it.each(
      routes.filter(
        ({ method, path, least }) => method === 'GET' && !path.endsWith('*') && roleIncludes(role, least),
      ),
    )('opens $path, which shows no link and no form that the role may not use', async ({ path }) => {
      const from = service.log.length;
      const page = await browsers[role].open(fill(path));
      expect([path, page.status]).toEqual([path, 200]);
      expect(unexpectedErrors(service, from)).toEqual([]);
      for (const [method, target] of actionsOn(page)) {
        expect([path, method, target, mayUseRoute(role, method, target)]).toEqual([
          path,
          method,
          target,
          true,
        ]);
      }
      for (const each of page.html.querySelectorAll('.buttons, h2')) expect(each.text.trim()).not.toBe('');
    });

    it('sees nothing to change on the page of an operator, and is refused its forms', async () => {
      const page = await browsers[role].open(`${CONSOLE}/users/${admin.id}`);
      expect(page.status).toBe(200);
      expect(actionsOn(page).filter(([method]) => method === 'POST')).toEqual([]);
      expect(page.text).not.toContain('Create password link');
      expect(page.html.querySelectorAll('.buttons')).toEqual([]);
      for (const part of ['edit', 'disable', 'revoke', 'password-link']) {
        const answer = await browsers[role].open(`${CONSOLE}/users/${admin.id}/${part}`);
        expect([part, answer.status, wordsOf(answer)]).toEqual([
          part,
          403,
          expect.stringContaining(`${REFUSED}`),
        ]);
        expect(answer.html.querySelector('h1')!.text).toBe('Your role does not allow this');
      }
    });
  });

  it('with the role support is not refused its forms for the role, but for a missing token', async () => {
    const forms = consoleRoutes().filter(({ method, least }) => method === 'POST' && least === 'support');
    expect(forms.length).toBeGreaterThan(10);
    for (const { path } of forms) {
      const answer = await post(browsers.support, fill(path));
      expect([path, answer.status, answer.text.includes(REFUSED)]).toEqual([path, 403, false]);
      expect(answer.html.querySelector('h1')!.text).toBe('This form has expired');
    }
  });

  it('with the role support sees no action on an operator in the lists of a client', async () => {
    const operator = await service.make.user({ name: 'Otto Operator' });
    await service.make.consent(client, operator);
    await service.make.tokens(client, operator);
    const update = { role: 'operator', operatorRole: 'viewer' } as const;
    await service.make.updateUser(operator, update);
    for (const part of ['consents', 'grants']) {
      const page = await browsers.support.open(`${CONSOLE}/clients/${client.id}/${part}`);
      const rows = page.html.querySelectorAll('tbody tr');
      const actions = rows.map((row) => [
        row.text.includes('Otto Operator'),
        row.querySelector('td[data-head="Actions"]')!.querySelectorAll('a, form').length,
      ]);
      expect([part, actions.sort()]).toEqual([
        part,
        [
          [false, 1],
          [true, 0],
        ],
      ]);
    }
    const path = `${CONSOLE}/clients/${client.id}/consents/${operator.id}/disconnect`;
    expect((await browsers.support.open(path)).status).toBe(403);
    await service.make.eraseUser(operator);
  });

  it('with the role viewer still finds an unknown page unknown', async () => {
    expect((await browsers.viewer.open(`${CONSOLE}/nothing-here`)).status).toBe(404);
  });

  it('with the role admin sees and may use everything', async () => {
    const browser = await service.make.signedIn(admin);
    const page = await browser.open(`${CONSOLE}/users/${driver.id}`);
    for (const label of ['Create password link', 'Make operator', 'Erase'])
      expect(page.text).toContain(label);
    for (const { path } of consoleRoutes().filter(({ method }) => method === 'POST'))
      expect([path, (await post(browser, fill(path))).text.includes(REFUSED)]).toEqual([path, false]);
    // The pages that the other roles do not see either.
    const from = service.log.length;
    const pages = consoleRoutes().filter(({ method, least }) => method === 'GET' && least === 'admin');
    for (const { path } of pages) {
      const { status, headers } = await browser.open(fill(path));
      const type = path.endsWith('/csv') ? 'text/csv' : 'text/html';
      expect([path, headers.get('content-type')]).toEqual([path, `${type}; charset=utf-8`]);
      expect([200, 404]).toContain(status);
    }
    expect(unexpectedErrors(service, from)).toEqual([]);
  });
});
