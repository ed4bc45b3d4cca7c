import { placeOf, postedAnew } from '../support/spec.js';
import { setUpPasskeys } from '../support/passkeys.js';
import { addPasskey, logInWith, newBrowserAt } from '../support/second-factors.js';

describe('A passkey on the account page', () => {
  const own = setUpPasskeys();
  const { add, passkeys, actions } = own;
  let { service, user } = own;
  beforeEach(() => void ({ service, user } = own));

  it('is listed, renamed and removed', async () => {
    const browser = await service.make.signedIn(user);
    const { passkey } = await addPasskey(browser, service.url, { name: 'Old name' });
    const { id } = (await passkeys())[0]!;
    const path = `/account/security/passkeys/${id}`;
    expect((await browser.open('/account/security')).text).toContain('Old name');
    const renamed = await browser.submit(await browser.open(path), path, { name: 'New name' });
    expect(placeOf(renamed)).toEqual([303, '/account/security']);
    const list = await browser.open('/account/security');
    expect([list.text.includes('New name'), list.text.includes('Passkey renamed.')]).toEqual([true, true]);
    const page = await browser.open(`${path}/remove`);
    expect((await browser.submit(page, `${path}/remove`)).status).toBe(303);
    expect(await passkeys()).toEqual([]);
    expect((await logInWith(passkey, newBrowserAt(service))).status).toBe(403);
    expect((await browser.submit(page, `${path}/remove`, postedAnew())).status).toBe(404);
    expect((await actions()).filter((action) => action.includes('passkey'))).toEqual([
      'user.passkey_added',
      'user.passkey_renamed',
      'user.passkey_removed',
    ]);
  });

  it('is not shown, renamed or removed by another user', async () => {
    await add();
    const { id } = (await passkeys())[0]!;
    const path = `/account/security/passkeys/${id}`;
    const other = await service.make.signedInNew();
    for (const each of [path, `${path}/remove`]) expect((await other.open(each)).status).toBe(404);
    expect((await other.open('/account/security/passkeys/nothing')).status).toBe(404);
  });

  it('can be added and removed only after recent authentication', async () => {
    const browser = await service.make.signedIn(user);
    const { passkey } = await addPasskey(browser, service.url);
    await service.make.ageSessions(user);
    const { id } = (await passkeys())[0]!;
    const paths = ['passkeys/new', `passkeys/${id}/remove`, 'app/new', 'app/remove'];
    for (const path of paths.map((each) => `/account/security/${each}`)) {
      const answer = await browser.open(path);
      const query = new URLSearchParams({ return_to: path }).toString();
      expect(placeOf(answer)).toEqual([303, `/account/confirm?${query}`]);
    }
    const confirm = '/account/confirm?return_to=%2Faccount%2Fsecurity%2Fpasskeys%2Fnew';
    const page = await browser.open(confirm);
    expect(page.html.querySelector('[data-passkey-sign-in]')).not.toBeNull();
    const wrong = await browser.submit(page, '/account/confirm', {
      password: 'wrong horse battery staple',
    });
    expect(wrong.status).toBe(400);
    // A login with the passkey is recent authentication, too.
    expect((await logInWith(passkey, browser)).status).toBe(200);
    expect((await browser.open('/account/security/passkeys/new')).status).toBe(200);
  });

  it('asks for the password again, and never leads elsewhere afterwards', async () => {
    const browser = await service.make.signedIn(user);
    await service.make.ageSessions(user);
    for (const [wanted, expected] of [
      ['/account/security/app/new', '/account/security/app/new'],
      ['//evil.example', '/account/security'],
      ['/logout', '/account/security'],
    ] as const) {
      const page = await browser.open(
        `/account/confirm?${new URLSearchParams({ return_to: wanted }).toString()}`,
      );
      const answer = await browser.submit(page, '/account/confirm', {
        password: 'correct horse battery staple',
      });
      expect(placeOf(answer)).toEqual([303, expected]);
    }
    expect((await browser.open('/account/security/app/new')).status).toBe(200);
  });
});
