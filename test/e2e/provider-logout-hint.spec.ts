import { createRemoteJWKSet, jwtVerify } from 'jose';
import { useBrokenProvider } from '../support/broken-provider.js';
import { BrowserSession, leadsTo } from '../support/browser-session.js';
import { PASSWORD } from '../support/factory.js';
import { CLIENT_ID } from '../support/identity-provider.js';

describe('Logging out at the provider', () => {
  const { idp, service } = useBrokenProvider();

  const logIn = async (sub: string, claims: object = {}): Promise<BrowserSession> => {
    idp.faults = { claims: { sub, email: `${sub}@mail.example`, ...claims } };
    const browser = new BrowserSession(service.url);
    const begun = await browser.submit(await browser.open('/login'), '/login/providers/company');
    expect((await browser.open(idp.callbackOf(leadsTo(begun)!))).headers.get('location')).toBe('/account');
    return browser;
  };
  const logOut = async (browser: BrowserSession): Promise<URLSearchParams> => {
    const page = await browser.submit(await browser.open('/account'), '/logout');
    expect([page.status, page.html.querySelector('h1')!.text]).toEqual([200, 'You are logged out']);
    return new URL(leadsTo(page)!).searchParams;
  };
  const claimsOf = async (hint: string | null) =>
    (await jwtVerify(hint ?? '', createRemoteJWKSet(new URL(`${idp.url}/jwks`)))).payload;

  it('names the session there by its ID token, on a page with a link that goes on there', async () => {
    const query = await logOut(await logIn('ada', { sid: 'session-1' }));
    expect(await claimsOf(query.get('id_token_hint'))).toMatchObject({ sub: 'ada', sid: 'session-1' });
    expect([query.get('client_id'), query.get('post_logout_redirect_uri')]).toEqual([
      CLIENT_ID,
      `${service.url}/login`,
    ]);
  });

  it('names it by the latest ID token after authenticating again', async () => {
    const browser = await logIn('bea', { sid: 'before' });
    const page = await browser.open('/account/confirm?return_to=/account/security');
    const again = leadsTo(await browser.submit(page, '/account/confirm'))!;
    idp.faults.claims!.sid = 'after';
    expect((await browser.open(idp.callbackOf(again))).headers.get('location')).toBe('/account/security');
    expect(await claimsOf((await logOut(browser)).get('id_token_hint'))).toMatchObject({ sid: 'after' });
  });

  it('names it also after the session was renewed by a new password', async () => {
    const { email } = await service.make.user();
    const browser = await logIn('cem', { sid: 'session-3', email });
    // The first login there ended the password that the account had.
    await service.database.query(
      'UPDATE users SET password_hash = (SELECT password_hash FROM users WHERE id = $1) WHERE email = $2',
      [(await service.make.user()).id, email],
    );
    const other = 'another long password';
    const fields = { current_password: PASSWORD, password: other, password_again: other };
    const page = await browser.open('/account/password');
    expect((await browser.submit(page, '/account/password', fields)).status).toBe(303);
    expect(await claimsOf((await logOut(browser)).get('id_token_hint'))).toMatchObject({ sid: 'session-3' });
  });

  it('stores it sealed only, and leaves no trace of it', async () => {
    const browser = await logIn('dia', { sid: 'session-4' });
    const [row] = await service.database.query<{ sealed: Buffer; text: string }>(
      'SELECT sealed_id_token AS sealed, sessions::text AS text FROM sessions WHERE provider_subject = $1',
      ['dia'],
    );
    const hint = (await logOut(browser)).get('id_token_hint')!;
    for (const part of hint.split('.')) {
      expect(row!.sealed.toString('latin1')).not.toContain(part);
      expect([...browser.cookies.values()].join()).not.toContain(part);
    }
    expect(service.log.join('\n')).not.toContain(hint.split('.')[2]);
    const left = await service.database.query('SELECT 1 FROM sessions WHERE provider_subject = $1', ['dia']);
    expect(left).toEqual([]);
  });

  it('goes there without it if it is too long for an address', async () => {
    const query = await logOut(
      await logIn('eva', { groups: Array.from({ length: 500 }, (_, n) => `group ${n}`) }),
    );
    expect([query.get('client_id'), query.has('id_token_hint')]).toEqual([CLIENT_ID, false]);
  });

  it('goes there without it if it was moved from the session of someone else', async () => {
    const [one, two] = [await logIn('fay'), await logIn('gus')];
    await service.database.query(
      `UPDATE sessions SET sealed_id_token = (SELECT sealed_id_token FROM sessions WHERE provider_subject = 'fay')
        WHERE provider_subject = 'gus'`,
    );
    expect((await logOut(two)).has('id_token_hint')).toBe(false);
    expect((await logOut(one)).has('id_token_hint')).toBe(true);
  });
});
