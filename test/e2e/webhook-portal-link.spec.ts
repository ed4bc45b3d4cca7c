import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import type { UserChanges } from '#access/users/accounts/user.resource.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { BrowserSession, csrfTokenOn, madeForEach, type Page, useSharedService } from '../support/spec.js';

describe('A webhook portal link', () => {
  const service = useSharedService();

  const owner = madeForEach(() => service.make.user({ name: 'Northwind GmbH', kind: 'organisation' }));
  const client = madeForEach(() =>
    service.make.client({ name: 'Northwind Smart Charging', ownerId: owner.id }),
  );

  const newBrowser = (): BrowserSession => new BrowserSession(service.url);
  const newLink = async (bearer?: string): Promise<string> => {
    const token = bearer ?? (await service.make.clientToken(client));
    const answer = await service.http.get('/webhook_portal', { bearer: token });
    return new URL(answer.json.url as string).pathname;
  };
  /** Returns a link whose key is well-formed with a right checksum, but unknown. */
  const unknownLink = async (): Promise<string> => {
    const link = await newLink();
    await service.database.query('DELETE FROM portal_links');
    return link;
  };
  /** Opens the portal in a new browser. */
  const enter = async (link: string, browser = newBrowser()): Promise<BrowserSession> => {
    const answer = await browser.fillIn(link);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/portal']);
    return browser;
  };
  const portalStatus = async (browser: BrowserSession): Promise<number> =>
    (await browser.open('/portal')).status;
  const sessionCount = async (): Promise<number> =>
    (await service.database.query('SELECT 1 FROM portal_sessions WHERE client_id = $1', [client.id])).length;

  describe('that no longer works', () => {
    it('shows the same page whether it is used, expired or unknown', async () => {
      const used = await newLink();
      await enter(used);
      const expired = await newLink();
      await service.database.query(`UPDATE portal_links SET expires_at = now() WHERE redeemed_at IS NULL`);
      const first = await newBrowser().open(used);
      expect([first.status, first.html.querySelector('h1')?.text]).toEqual([
        410,
        'This link no longer works',
      ]);
      const headersOf = (page: Page): [string, string][] =>
        [...page.headers].filter(([name]) => name !== 'date' && name !== 'x-request-id');
      for (const link of [expired, await unknownLink(), `${used}x`]) {
        const page = await newBrowser().open(link);
        expect([page.status, page.text, headersOf(page)]).toEqual([410, first.text, headersOf(first)]);
      }
    });

    it('shows that page also on submission, if it was used or has expired since it was opened', async () => {
      const link = await newLink();
      const [first, second] = [newBrowser(), newBrowser()];
      const page = await second.open(link);
      await enter(link, first);
      const late = await second.submit(page, link);
      expect([late.status, late.headers.getSetCookie()]).toEqual([410, []]);
      const expiring = await newLink();
      const opened = await second.open(expiring);
      await service.database.query('UPDATE portal_links SET expires_at = now()');
      const expired = await second.submit(opened, expiring);
      expect([expired.status, expired.text]).toEqual([410, late.text]);
      expect(await portalStatus(second)).toBe(401);
    });
  });

  describe('ends unredeemed, together with the portal session,', () => {
    const changeOwner = (changes: UserChanges) =>
      service.app.get(UsersService).update(owner.id, changes, SERVICE_ACTOR);

    // test/e2e/portal-endings.spec.ts has what else ends both.
    it('when the client is deleted', async () => {
      const inside = await enter(await newLink());
      const link = await newLink();
      await service.make.deleteClient(client);
      expect((await newBrowser().open(link)).status).toBe(410);
      expect(await portalStatus(inside)).toBe(401);
    });

    it.each<[string, () => Promise<unknown>]>([
      ['consent', () => service.app.get(ConsentsService).revoke(client.id, owner.id, SERVICE_ACTOR)],
      ['password', () => changeOwner({ password: 'another long password' })],
    ])("with the owner's %s, if it was requested with the owner's token", async (_what, end) => {
      const { access_token } = await service.make.tokens(client, owner);
      const inside = await enter(await newLink(access_token));
      const link = await newLink(access_token);
      const ofClient = await newLink();
      await end();
      expect((await newBrowser().open(link)).status).toBe(410);
      expect(await portalStatus(inside)).toBe(401);
      expect((await newBrowser().open(ofClient)).status).toBe(200);
    });
  });

  it('is not used up by opening it, by HEAD, or by a submission that does not come from its page', async () => {
    const link = await newLink();
    const [browser, other] = [newBrowser(), newBrowser()];
    for (let view = 0; view < 3; view++) expect((await newBrowser().open(link)).status).toBe(200);
    expect((await browser.open(link, { method: 'HEAD' })).status).toBe(200);
    const token = csrfTokenOn(await browser.open(link));
    const otherToken = csrfTokenOn(await other.open(await newLink()));
    const press = (by: BrowserSession, csrf_token: string, origin = service.url): Promise<Page> =>
      by.open(link, { form: { csrf_token }, headers: { origin } });
    for (const answer of [
      await press(browser, otherToken),
      await press(other, otherToken),
      await press(other, token),
      await press(browser, token, 'null'),
    ]) {
      expect([answer.status, answer.headers.getSetCookie()]).toEqual([403, []]);
    }
    expect(await sessionCount()).toBe(0);
    await enter(link, browser);
  });

  it('lives for 5 minutes, and the session it starts for an hour', async () => {
    await enter(await newLink());
    const lifetimes = await service.database.query(
      `SELECT (SELECT extract(epoch FROM expires_at - created_at)::int FROM portal_links WHERE client_id = $1) AS link,
              (SELECT extract(epoch FROM expires_at - created_at)::int FROM portal_sessions WHERE client_id = $1) AS session`,
      [client.id],
    );
    expect(lifetimes).toEqual([{ link: 300, session: 3600 }]);
  });

  it('works once, even when it is submitted many times concurrently', async () => {
    const link = await newLink();
    const browsers = Array.from({ length: 8 }, newBrowser);
    const pages = await Promise.all(browsers.map((browser) => browser.open(link)));
    const answers = await Promise.all(browsers.map((browser, i) => browser.submit(pages[i]!, link)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array<number>(7).fill(410)]);
    expect(await sessionCount()).toBe(1);
  });

  it('has a smaller heading for a long name, and says how long it still works', async () => {
    const long = await service.make.client({ name: `A fleet ${'with a long name '.repeat(4)}` });
    const link = await newLink(await service.make.clientToken(long));
    const shown = async () => {
      const { html } = await newBrowser().open(link);
      return [html.querySelector('h1')!.classNames, html.querySelector('.fine-print')!.text];
    };
    expect(await shown()).toEqual(['long', 'The link works once and expires in 5 minutes.']);
    for (const [left, said] of [
      ['70 seconds', '1 minute'],
      ['50 seconds', 'less than a minute'],
    ]) {
      await service.database.query(
        'UPDATE portal_links SET expires_at = now() + $1::interval WHERE client_id = $2',
        [left, long.id],
      );
      expect(await shown()).toEqual(['long', `The link works once and expires in ${said}.`]);
    }
  });

  it('shows whose portal it opens, with one button, on a page that does not leak its address', async () => {
    const page = await newBrowser().open(await newLink());
    expect(page.status).toBe(200);
    expect(page.html.querySelector('main')!.text).toContain('Northwind Smart Charging');
    expect(page.html.querySelector('main')!.text).toContain('Northwind GmbH');
    expect(page.html.querySelectorAll('button').map((button) => button.text)).toEqual([
      'Open webhook portal',
    ]);
    expect(page.headers.get('referrer-policy')).toBe('strict-origin');
    expect(page.text).not.toMatch(/<script|https?:\/\//);
  });
});
