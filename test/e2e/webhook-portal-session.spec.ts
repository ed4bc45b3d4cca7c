import { BrowserSession, madeOnce, useSharedService } from '../support/spec.js';
import { auditEventsOn } from '../support/audit-events.js';

describe('A webhook portal session', () => {
  const service = useSharedService();

  const client = madeOnce(() => service.make.client({ name: 'Northwind Smart Charging' }));

  /** Opens the client's portal by a new link, and returns the cookie that was set. */
  const enter = async (browser: BrowserSession, of = client): Promise<string> => {
    const bearer = await service.make.clientToken(of);
    const { json } = await service.http.get('/webhook_portal', { bearer });
    return (await browser.fillIn(new URL(json.url as string).pathname)).headers.getSetCookie().join('\n');
  };
  const entered = async (of = client): Promise<BrowserSession> => {
    const browser = new BrowserSession(service.url);
    await enter(browser, of);
    return browser;
  };

  it.each(['x', 'cds_ps_x', `cds_ps_${'A'.repeat(49)}`, '%00', "' OR '1'='1"])(
    'is not started by the cookie %j',
    async (value) => {
      const browser = new BrowserSession(service.url);
      browser.cookies.set('cds_portal_session', value);
      expect((await browser.open('/portal')).status).toBe(401);
    },
  );

  it('is not the session of a signed-in user, nor the other way round', async () => {
    const signedIn = await service.make.signedIn(await service.make.user());
    signedIn.cookies.set('cds_portal_session', signedIn.cookies.get('cds_session')!);
    expect((await signedIn.open('/portal')).status).toBe(401);
    const inside = await entered();
    inside.cookies.set('cds_session', inside.cookies.get('cds_portal_session')!);
    expect((await inside.open('/')).html.querySelector('form')).toBeNull();
  });

  it.each([
    ['sandbox', '?page=sandbox', '/portal/sandbox'],
    ['sandbox', '', '/portal'],
    ['sandbox', '?page=members', '/portal'],
    ['live', '?page=sandbox', '/portal'],
  ] as const)('of a %s client, by a link with “%s”, begins at %s', async (environment, query, begins) => {
    const bearer = await service.make.clientToken(await service.make.client({ environment }));
    const { json } = await service.http.get('/webhook_portal', { bearer });
    const { pathname } = new URL(json.url as string);
    const browser = new BrowserSession(service.url);
    const answer = await browser.submit(await browser.open(pathname + query), pathname);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, begins]);
  });

  it('has a cookie for an hour and shows one client by name and id', async () => {
    const browser = new BrowserSession(service.url);
    const cookie = await enter(browser);
    expect(cookie).toMatch(
      /^cds_portal_session=cds_ps_[^;]{49}; Max-Age=3600; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const page = await browser.open('/portal');
    expect(page.status).toBe(200);
    expect(page.html.querySelector('.portal-bar')!.text).toContain('Northwind Smart Charging');
    expect(page.html.querySelector('.visitor')!.text).toContain(client.id);
    expect(page.headers.get('content-security-policy')).toContain("form-action 'self'");
    expect(page.text).not.toContain('cds_ps_');
  });

  it('has a new id each time, accepts no planted id, and belongs to the client whose link came last', async () => {
    const browser = new BrowserSession(service.url);
    browser.cookies.set('cds_portal_session', 'cds_ps_planted');
    await enter(browser);
    const first = browser.cookies.get('cds_portal_session');
    await enter(browser, await service.make.client({ name: 'Contoso Fleet' }));
    expect(new Set(['cds_ps_planted', first, browser.cookies.get('cds_portal_session')]).size).toBe(3);
    const text = (await browser.open('/portal')).html.text;
    expect([text.includes('Contoso Fleet'), text.includes('Northwind')]).toEqual([true, false]);
  });

  it("does not affect the user's sign-in in the same browser", async () => {
    const browser = await service.make.signedIn(await service.make.user({ name: 'Dana Driver' }));
    await enter(browser);
    expect((await browser.open('/')).html.text).toContain('Dana Driver');
    await browser.submit(await browser.open('/portal'), '/portal/logout');
    expect((await browser.open('/')).html.text).toContain('Dana Driver');
  });

  it('ends after an hour', async () => {
    const browser = await entered();
    await service.database.query('UPDATE portal_sessions SET expires_at = now()');
    expect((await browser.open('/portal')).status).toBe(401);
  });

  it('starts with an audit event', async () => {
    await entered();
    const events = await auditEventsOn(service, client.id, 'portal_session.started');
    const actor = { actor_type: 'client', actor_id: client.id, address: '127.0.0.1' };
    expect(events.at(-1)).toMatchObject(actor);
  });

  describe('at logout', () => {
    it('requires the CSRF token of this session', async () => {
      const [browser, other] = [await entered(), await entered()];
      const page = await other.open('/portal');
      const origin = service.url;
      expect((await browser.open('/portal/logout', { form: {}, headers: { origin } })).status).toBe(403);
      expect((await browser.submit(page, '/portal/logout')).status).toBe(403);
      expect((await browser.open('/portal')).status).toBe(200);
    });

    it('is ended in the database', async () => {
      const browser = await entered();
      const id = browser.cookies.get('cds_portal_session')!;
      const answer = await browser.submit(await browser.open('/portal'), '/portal/logout');
      expect([answer.status, answer.headers.get('location')]).toEqual([303, '/portal']);
      expect(browser.cookies.has('cds_portal_session')).toBe(false);
      browser.cookies.set('cds_portal_session', id);
      expect((await browser.open('/portal')).status).toBe(401);
    });
  });
});
