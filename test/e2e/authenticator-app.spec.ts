import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import {
  addApp,
  codeOf,
  giveCode,
  givePassword,
  isLoggedIn,
  newBrowserAt,
} from '../support/second-factors.js';
import { startService, type TestService } from '../support/test-service.js';

describe('An authenticator app', () => {
  let service: TestService;
  let user: UserEntity;

  beforeAll(async () => (service = await startService({ instances: 2 })));
  beforeEach(async () => (user = await service.make.user()));
  afterAll(() => service.stop());

  it('is asked for after the password, and its code logs in', async () => {
    const { secret, codes } = await addApp(await service.make.signedIn(user));
    expect(new Set(codes).size).toBe(10);
    const browser = newBrowserAt(service);
    const answer = await givePassword(browser, user, '/account/sessions');
    expect([answer.status, answer.headers.get('location')]).toEqual([
      303,
      '/login/second-factor?return_to=%2Faccount%2Fsessions',
    ]);
    expect(await isLoggedIn(browser)).toBe(false);
    const done = await giveCode(browser, codeOf(secret), answer.headers.get('location')!);
    expect([done.status, done.headers.get('location')]).toEqual([303, '/account/sessions']);
    expect(await isLoggedIn(browser)).toBe(true);
  });
});
