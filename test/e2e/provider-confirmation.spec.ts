import { BrokenIdentityProvider } from '../support/broken-identity-provider.js';
import { BrowserSession, type Page } from '../support/browser-session.js';
import { CLIENT_ID, CLIENT_SECRET } from '../support/identity-provider.js';
import { startService, type TestService } from '../support/test-service.js';

const CONFIRM = '/admin/console/confirm-password';
const secondsAgo = (seconds: number) => Math.floor(Date.now() / 1000) - seconds;

describe('An operator who came from a provider, when the console asks for the password again,', () => {
  let idp: BrokenIdentityProvider;
  let service: TestService;
  let browser: BrowserSession;
  let userId: string;

  beforeAll(async () => {
    idp = await BrokenIdentityProvider.open();
    const provider = {
      ...{ id: 'staff', label: 'Example Staff', issuer: idp.url, client_id: CLIENT_ID },
      ...{ client_secret: CLIENT_SECRET, audience: ['operators'], accounts: 'verified_email' },
    };
    service = await startService({ env: { IDENTITY_PROVIDERS: JSON.stringify([provider]) } });
    userId = (await service.make.user()).id;
    await service.make.user({ email: 'olga@mail.example', role: 'operator' });
    await service.make.user({ email: 'omar@mail.example', role: 'operator' });
  });
  afterAll(async () => {
    await service.stop();
    await idp.close();
  });

  const asPerson = (sub: string, authTime: number | undefined) =>
    (idp.faults = { claims: { sub, email: `${sub}@mail.example`, auth_time: authTime } });
  const logIn = async (authTime: number | undefined): Promise<void> => {
    asPerson('olga', authTime);
    browser = new BrowserSession(service.url);
    const begun = await browser.submit(await browser.open('/login'), '/login/providers/staff');
    const answer = await browser.open(idp.callbackOf(begun.headers.get('location')!));
    expect(answer.headers.get('location')).toBe('/');
  };
  /** From the page that asks to the provider, and back. */
  const confirm = async (asking: Page): Promise<Page> => {
    const page = await browser.open(asking.headers.get('location')!);
    const begun = await browser.submit(page, CONFIRM);
    expect(new URL(begun.headers.get('location')!).searchParams.get('max_age')).toBe('0');
    return browser.open(idp.callbackOf(begun.headers.get('location')!));
  };
  const erase = () => `/admin/console/users/${userId}/erase`;
  const reason = async () =>
    (
      await service.database.query<{ reason: string }>(
        "SELECT after->>'reason' AS reason FROM audit_events WHERE action = 'session.refused' ORDER BY id DESC LIMIT 1",
      )
    )[0]?.reason;

  it('is not asked if the person has just authenticated there', async () => {
    await logIn(secondsAgo(5));
    expect((await browser.open(erase())).status).toBe(200);
  });

  it.each([
    ['long ago', () => secondsAgo(3600)],
    ['at a time that the provider does not tell', () => undefined],
  ])(
    'is sent there if the person authenticated %s, and continues under a new session id',
    async (_name, at) => {
      await logIn(at());
      const before = browser.cookies.get('cds_session') ?? [...browser.cookies.values()].join();
      const asking = await browser.open(erase());
      expect([asking.status, asking.headers.get('location')?.split('?')[0]]).toEqual([303, CONFIRM]);
      const page = await browser.open(asking.headers.get('location')!);
      expect(page.html.text).toContain('Continue with Example Staff');
      expect(page.html.querySelector('input[type=password]')).toBeNull();
      expect(page.headers.get('content-security-policy')).toContain(idp.url);
      asPerson('olga', secondsAgo(1));
      expect((await confirm(asking)).headers.get('location')).toBe(erase());
      expect((await browser.open(erase())).status).toBe(200);
      expect([...browser.cookies.values()].join()).not.toBe(before);
      const methods = await service.database.query<{ method: string }>(
        "SELECT DISTINCT method FROM sessions WHERE provider = 'staff'",
      );
      expect(methods).toEqual([{ method: 'provider' }]);
    },
  );

  it('is refused if the person did not authenticate again: auth_time is too old', async () => {
    await logIn(secondsAgo(3600));
    asPerson('olga', secondsAgo(1200));
    const answer = await confirm(await browser.open(erase()));
    expect([answer.status, await reason()]).toEqual([400, 'provider_answer_invalid']);
    expect((await browser.open(erase())).status).toBe(303);
  });

  it('is refused without auth_time', async () => {
    await logIn(secondsAgo(3600));
    asPerson('olga', undefined);
    const answer = await confirm(await browser.open(erase()));
    expect([answer.status, await reason()]).toEqual([400, 'provider_answer_invalid']);
  });

  it('is refused for another person, whose session does not begin', async () => {
    await logIn(secondsAgo(3600));
    asPerson('omar', secondsAgo(1));
    const answer = await confirm(await browser.open(erase()));
    expect([answer.status, await reason()]).toEqual([400, 'provider_answer_invalid']);
    expect((await browser.open('/account')).html.text).toContain('olga@mail.example');
  });

  it('is refused if the browser was logged out meanwhile', async () => {
    await logIn(secondsAgo(3600));
    const asking = await browser.open(erase());
    const page = await browser.open(asking.headers.get('location')!);
    const begun = await browser.submit(page, CONFIRM);
    await service.database.query('DELETE FROM sessions');
    asPerson('olga', secondsAgo(1));
    const answer = await browser.open(idp.callbackOf(begun.headers.get('location')!));
    expect([answer.status, await reason()]).toEqual([400, 'sign_in_expired']);
  });

  it.each(['/edit', '/password-link'])('is asked before the form, or at the button: %s', async (part) => {
    await logIn(secondsAgo(3600));
    const path = `/admin/console/users/${userId}${part}`;
    const above = await browser.open(`/admin/console/users/${userId}`);
    const asking = part === '/edit' ? await browser.open(path) : await browser.submit(above, path);
    expect([asking.status, asking.headers.get('location')?.split('?')[0]]).toEqual([303, CONFIRM]);
    asPerson('olga', secondsAgo(1));
    const back = (await confirm(asking)).headers.get('location')!;
    expect((await browser.open(back)).status).toBe(200);
  });

  it('is told when the provider cannot be reached', async () => {
    await logIn(secondsAgo(3600));
    const asking = await browser.open(erase());
    const page = await browser.open(asking.headers.get('location')!);
    await service.database.query('SELECT 1');
    idp.faults = { answers: { '/.well-known/openid-configuration': { status: 500, body: '' } } };
    const { ProviderClients } =
      await import('../../src/identity-providers/protocol/provider-clients.service.js');
    const clients = service.app.get(ProviderClients, { strict: false });
    clients.forget(clients.get('staff'));
    const answer = await browser.submit(page, CONFIRM);
    expect([answer.status, answer.html.text]).toEqual([
      400,
      expect.stringContaining('Example Staff cannot be reached'),
    ]);
  });
});
