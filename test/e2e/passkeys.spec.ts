import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import { addPasskey, isLoggedIn, logInWith, newBrowserAt } from '../support/second-factors.js';
import { startService, type TestService } from '../support/test-service.js';

describe('A passkey', () => {
  let service: TestService;
  let user: UserEntity;

  beforeAll(async () => (service = await startService({ instances: 2 })));
  beforeEach(async () => (user = await service.make.user()));
  afterAll(() => service.stop());

  it('logs its user in by itself, and leads where the browser wanted to go', async () => {
    const { passkey, codes } = await addPasskey(await service.make.signedIn(user), service.url);
    expect(codes.length).toBe(10);
    const browser = newBrowserAt(service);
    const answer = await logInWith(passkey, browser, {}, '/account/sessions');
    expect([answer.status, answer.json]).toEqual([200, { location: '/account/sessions' }]);
    expect(await isLoggedIn(browser)).toBe(true);
    expect((await browser.open('/account')).text).toContain(user.email);
  });
});
