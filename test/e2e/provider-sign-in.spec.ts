import { IdentityProvider, PersonBrowser } from '../support/identity-provider.js';
import { startService, type TestService } from '../support/test-service.js';

describe('Logging in through an identity provider', () => {
  let idp: IdentityProvider;
  let service: TestService;
  const newBrowser = () => new PersonBrowser(service.url, idp.url);

  beforeAll(async () => {
    idp = await IdentityProvider.open();
    service = await startService({ env: idp.env({ accounts: 'create' }) });
    idp.serveTo(service.url);
  });
  afterAll(async () => {
    await service.stop();
    await idp.close();
  });

  it('makes an account for a new person, starts a session and returns to where the person wanted to go', async () => {
    idp.people.set('ada', { email: 'ada@mail.example', email_verified: true, name: 'Ada Driver' });
    const browser = newBrowser();
    const answer = await browser.logIn('ada', 'company', '/account/sessions');
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/account/sessions']);
    const account = await browser.service.open('/account');
    expect(account.html.text).toContain('Ada Driver');
    expect(account.html.text).toContain('ada@mail.example');
  });
});
