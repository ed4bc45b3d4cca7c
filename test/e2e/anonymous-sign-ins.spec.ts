import { ActivityService } from '#records/activity/activity.service.js';
import { BrowserSession, leadsTo, postedAnew, useServiceWithProvider } from '../support/spec.js';
import { setUpPasskey } from '../support/factors-without-pages.js';
import { IdentityProvider, PersonBrowser } from '../support/identity-provider.js';
import { expectRetryAfter, newAddress, statusesOf } from '../support/rate-limits.js';
import { answerPasskey, passkeyOptions } from '../support/second-factors.js';

const WINDOW = 15 * 60;
/** Contract §3: the 51st failure from one address. */
const FAILURES = 50;

describe('Sign-ins that fail without a known account', () => {
  const idp = new IdentityProvider();
  const service = useServiceWithProvider(idp, [{}], { env: { TRUSTED_PROXIES: '127.0.0.1' } });
  let address: string;
  beforeEach(() => (address = newAddress()));

  const newBrowser = (from = address): BrowserSession =>
    new BrowserSession(service.url, { 'x-forwarded-for': from });
  /** The audit log of what came from the address. */
  const recorded = (): Promise<{ action: string; subject: string; reason: string | null }[]> =>
    service.database.query(
      `SELECT action, subject_id AS subject, after->>'reason' AS reason FROM audit_events
        WHERE address = $1 ORDER BY id`,
      [address],
    );
  const begin = async (browser: BrowserSession): Promise<string> =>
    leadsTo(await browser.submit(await browser.open('/login'), '/login/providers/company'))!;
  const counted = async (result: 'failed' | 'slowed'): Promise<number> => {
    const { text } = await service.http.send('/metrics');
    return Number(new RegExp(`^sign_ins_total\\{result="${result}"\\} (\\d+)$`, 'm').exec(text)![1]);
  };

  it('are not recorded: callbacks without a started sign-in, which are counted', async () => {
    const before = await counted('failed');
    const callback = '/login/callback/company?code=made-up&state=made-up';
    expect(await statusesOf(3, () => newBrowser().open(callback))).toEqual([400, 400, 400]);
    expect(await recorded()).toEqual([]);
    expect(await counted('failed')).toBe(before + 3);
  });

  it('are recorded: callbacks of a sign-in that this browser started', async () => {
    const browser = newBrowser();
    const state = new URL(await begin(browser)).searchParams.get('state')!;
    const callback = `/login/callback/company?error=access_denied&iss=${idp.url}&state=${state}`;
    expect((await browser.open(callback)).status).toBe(400);
    expect(await recorded()).toEqual([
      { action: 'session.refused', subject: 'unknown', reason: 'provider_refused' },
    ]);
    // Used by now.
    expect((await browser.open(callback)).status).toBe(400);
    expect(await recorded()).toHaveLength(1);
  });

  it('are refused from the 51st callback of an address within 15 minutes', async () => {
    const slowed = await counted('slowed');
    const callback = () => newBrowser().open('/login/callback/company?code=made-up&state=made-up');
    expect(await statusesOf(FAILURES, callback)).toEqual(Array(FAILURES).fill(400));
    const refused = await callback();
    expect(refused.status).toBe(429);
    expectRetryAfter(refused, WINDOW);
    expect(await counted('slowed')).toBe(slowed + 1);
    await service.app.get(ActivityService).flush();
    const last = `SELECT last_address FROM activity_hours
       WHERE client_id = '' AND detail = 'too_many' ORDER BY last_at DESC LIMIT 1`;
    expect(await service.database.value(last)).toBe(address);
  });

  it('are refused though they were started, and what is right is not held up', async () => {
    // Anyone can write into the address that the provider failed.
    const ERRORS = ['access_denied', 'server_error', 'unauthorized_client'];
    const browser = newBrowser();
    const login = await browser.open('/login');
    const started = async (error: string): Promise<number> => {
      const begun = await browser.submit(login, '/login/providers/company', postedAnew());
      const state = new URL(leadsTo(begun)!).searchParams.get('state')!;
      const callback = `/login/callback/company?error=${error}&iss=${idp.url}&state=${state}`;
      return (await browser.open(callback)).status;
    };
    const statuses: number[] = [];
    for (let n = 0; n <= FAILURES; n++) statuses.push(await started(ERRORS[n % ERRORS.length]!));
    expect(statuses.slice(0, FAILURES)).toEqual(
      Array.from({ length: FAILURES }, (_, n) => (n % ERRORS.length === 0 ? 400 : 503)),
    );
    expect(statuses.at(-1)).toBe(429);
    expect(await recorded()).toHaveLength(FAILURES);
    idp.people.set('held-up', { email: 'held-up@company.example', email_verified: true });
    const person = new PersonBrowser(service.url, idp.url, undefined, { 'x-forwarded-for': address });
    expect((await person.logIn('held-up')).status).toBe(303);
  });

  it('are not recorded: answers of no known passkey, which are counted and refused from the 51st', async () => {
    const before = await counted('failed');
    const answer = () => answerPasskey(newBrowser(), { id: 'AAAA' });
    expect(await statusesOf(FAILURES + 1, answer)).toEqual([...Array<number>(FAILURES).fill(403), 429]);
    expect(await recorded()).toEqual([]);
    expect(await counted('failed')).toBe(before + FAILURES);
  });

  it('are recorded for the account: wrong answers of a passkey that it has', async () => {
    const user = await service.make.user();
    const passkey = await setUpPasskey(service, await service.make.signedIn(user));
    const [asked, answering] = [newBrowser(), newBrowser()];
    const response = passkey.get(await passkeyOptions(asked));
    await passkeyOptions(answering);
    expect((await answerPasskey(answering, response)).status).toBe(403);
    expect(await recorded()).toEqual([{ action: 'session.refused', subject: user.id, reason: null }]);
  });

  it('are not recorded: wrong passwords for an unknown email address', async () => {
    const browser = newBrowser();
    const refused = await browser.submit(await browser.open('/login'), '/login', {
      email: 'nobody@company.example',
      password: 'wrong horse battery staple',
    });
    expect(refused.status).toBe(401);
    expect(await recorded()).toEqual([]);
  });
});
