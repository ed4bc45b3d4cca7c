import { UsersRepository } from '#access/users/accounts/users.repository.js';
import { setUpApp } from '../support/factors-without-pages.js';
import { BrowserSession, madeForEach, type Page, PASSWORD, useSharedService } from '../support/spec.js';
import { newAddress, statusesOf } from '../support/rate-limits.js';
import { codeOf, wrongCode, isSignedIn } from '../support/second-factors.js';

const WRONG = 'wrong horse battery staple';
const STEP = '/login/second-factor';

/** Contract §3: only failures are counted. */
describe('An attempt to log in that the database interrupts', () => {
  const service = useSharedService({ env: { TRUSTED_PROXIES: '127.0.0.1' } });
  const user = madeForEach(() => service.make.user());

  const newBrowser = (address = newAddress()): BrowserSession =>
    new BrowserSession(service.url, { 'x-forwarded-for': address });
  const attempt = async (password: string, by = newBrowser()): Promise<Page> =>
    by.fillIn('/login', { email: user.email, password });

  /** While accounts cannot be read with their passwords. */
  async function whileAway<T>(work: () => Promise<T>): Promise<T> {
    const users = service.app.get(UsersRepository);
    const away = () => Promise.reject(new Error('Connection terminated unexpectedly'));
    const spies = [
      jest.spyOn(users, 'findByEmailWithPassword').mockImplementation(away),
      jest.spyOn(users, 'findByIdWithPassword').mockImplementation(away),
    ];
    try {
      return await work();
    } finally {
      spies.forEach((spy) => spy.mockRestore());
    }
  }
  async function whileWithout<T>(table: string, work: () => Promise<T>): Promise<T> {
    await service.database.query(`ALTER TABLE ${table} RENAME TO hidden_table`);
    try {
      return await work();
    } finally {
      await service.database.query(`ALTER TABLE hidden_table RENAME TO ${table}`);
    }
  }

  it('counts neither for the account nor for the address', async () => {
    const by = newBrowser();
    const page = await by.open('/login');
    const logIn = () => by.submit(page, '/login', { email: user.email, password: PASSWORD });
    expect(await whileAway(() => statusesOf(52, logIn))).toEqual(Array(52).fill(503));
    expect((await logIn()).status).toBe(303);
  });

  it('counts for no browser that logged in before', async () => {
    const by = newBrowser();
    expect((await attempt(PASSWORD, by)).status).toBe(303);
    by.cookies.delete('cds_session');
    expect(await whileAway(() => statusesOf(6, () => attempt(PASSWORD, by)))).toEqual(Array(6).fill(503));
    expect((await attempt(PASSWORD, by)).status).toBe(303);
  });

  it('does not count if the password was right, but no session could be stored', async () => {
    const answers = await whileWithout('sessions', () => statusesOf(6, () => attempt(PASSWORD)));
    expect(answers).toEqual(Array(6).fill(500));
    expect((await attempt(PASSWORD)).status).toBe(303);
  });

  it('counts if the password was wrong, although that could not be recorded', async () => {
    const answers = await whileWithout('audit_events', () => statusesOf(6, () => attempt(WRONG)));
    expect(answers).toEqual([...Array<number>(5).fill(500), 429]);
    expect((await attempt(PASSWORD)).status).toBe(429);
  });

  describe('at the step of the second factor', () => {
    let by: BrowserSession;
    let secret: string;
    let page: Page;
    beforeEach(async () => {
      ({ secret } = await setUpApp(service, await service.make.signedIn(user)));
      by = newBrowser();
      expect((await attempt(PASSWORD, by)).headers.get('location')).toBe(STEP);
      page = await by.open(STEP);
    });
    const give = async (code: string) => by.submit(page, STEP, { code });

    it('does not count if the code was right', async () => {
      const answers = await whileWithout('sessions', () => statusesOf(6, () => give(codeOf(secret))));
      expect(answers).toEqual(Array(6).fill(500));
      expect((await give(codeOf(secret))).status).toBe(303);
    });

    it('counts if the code was wrong, although that could not be recorded', async () => {
      const answers = await whileWithout('audit_events', () => statusesOf(6, () => give(wrongCode(secret))));
      expect(answers).toEqual([...Array<number>(5).fill(500), 429]);
      expect((await give(codeOf(secret))).status).toBe(429);
    });
  });

  describe.each([
    ['a confirmation', '/account/confirm', 'password'],
    ['a change of the password', '/account/password', 'current_password'],
  ])('for %s', (_what, path, field) => {
    const fieldsWith = (password: string) => ({
      ...(path === '/account/password' ? { password: `${PASSWORD}!`, password_again: `${PASSWORD}!` } : {}),
      [field]: password,
    });

    it('counts only if the password was wrong', async () => {
      const by = await service.make.signedIn(user);
      const page = await by.open(path);
      const give = (password: string) => () => by.submit(page, path, fieldsWith(password));
      expect(await whileAway(() => statusesOf(6, give(PASSWORD)))).toEqual(Array(6).fill(503));
      const wrong = await whileWithout('audit_events', () => statusesOf(6, give(WRONG)));
      expect(wrong).toEqual([...Array<number>(5).fill(500), 429]);
      expect((await give(PASSWORD)()).status).toBe(429);
      expect(await isSignedIn(by)).toBe(true);
    });
  });
});
