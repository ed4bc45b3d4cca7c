import { BrowserSession, authorizePath } from '../support/browser-session.js';
import { setUpApp } from '../support/factors-without-pages.js';
import { PASSWORD, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { credentialsOf, exchange, expectOAuthError, refresh } from '../support/oauth.js';
import { codeOf, giveCode, givePassword } from '../support/second-factors.js';
import { madeForEach, madeOnce, useSharedService } from '../support/spec.js';

const service = useSharedService();

const client = madeOnce(() => service.make.client());
const inspector = madeOnce(() => service.make.operatorClient(['token:introspect']));
const user = madeForEach(() => service.make.user());
let browser: BrowserSession;
beforeEach(async () => {
  browser = await service.make.signedIn(user);
});

type Demands = { acr_values?: string; max_age?: string };
const pathWith = (demands: Demands, of: TestClient = client) =>
  authorizePath({ response_type: 'code', client_id: of.id, redirect_uri: REDIRECT_URI, ...demands });
const paramsOf = ({ headers }: { headers: Headers }) => new URL(headers.get('location')!).searchParams;
const ageSession = (seconds: number) =>
  service.database.query(
    'UPDATE sessions SET created_at = created_at - make_interval(secs => $1) WHERE user_id = $2',
    [seconds, user.id],
  );
/** When the session of the user began, in seconds since 1970. */
const loginTime = () =>
  service.database.value<number>(
    'SELECT floor(extract(epoch FROM created_at))::float8 FROM sessions WHERE user_id = $1',
    [user.id],
  );
/** What introspection says of the login, after the consent page of this path was agreed to. */
async function loginIn(path: string, of: TestClient = client) {
  const page = await browser.open(path);
  expect([page.status, page.headers.get('location')]).toEqual([200, null]);
  const code = paramsOf(await browser.submit(page, '/o/authorize/', { decision: 'authorize' })).get('code')!;
  const { json } = await exchange(service.http, of, code);
  return { ...(await saidOf(json.access_token as string)), refreshToken: json.refresh_token as string };
}
async function saidOf(token: string) {
  const { json } = await service.http.send('/o/introspect', { form: { ...credentialsOf(inspector), token } });
  return { acr: json.acr as string | undefined, authTime: json.auth_time as number | undefined };
}

describe('An authorization request that asks of the login (RFC 9470) is refused', () => {
  it.each<[Demands, string]>([
    [{ max_age: 'soon' }, 'invalid_request'],
    [{ max_age: '-1' }, 'invalid_request'],
    [{ max_age: '1e3' }, 'invalid_request'],
    [{ acr_values: 'urn:mace:incommon:iap:silver' }, 'invalid_request'],
    [{ acr_values: 'two_factors' }, 'unmet_authentication_requirements'],
  ])('with %j', async (demands, error) => {
    expect(paramsOf(await browser.open(pathWith(demands))).get('error')).toBe(error);
    if (error !== 'invalid_request') return;
    const form = { ...credentialsOf(client), response_type: 'code', redirect_uri: REDIRECT_URI, ...demands };
    expectOAuthError(await service.http.send('/o/par', { form }), 400, error);
  });

  it('with one of them twice', async () => {
    const path = `${pathWith({ max_age: '60' })}&max_age=9`;
    expect(paramsOf(await browser.open(path)).get('error')).toBe('invalid_request');
  });
});

describe('A login that is too old for max_age', () => {
  it('is recent enough if it was when the page was shown, however long that is read', async () => {
    const page = await browser.open(pathWith({ max_age: '60' }));
    await ageSession(600);
    const decided = await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
    expect(paramsOf(decided).has('code')).toBe(true);
  });

  it('is asked for again, and the user comes back to the application', async () => {
    await ageSession(600);
    const path = pathWith({ max_age: '300' });
    const asked = await browser.open(path);
    const confirm = asked.headers.get('location')!;
    expect([asked.status, confirm]).toEqual([302, expect.stringMatching(/^\/account\/confirm\?return_to=/)]);
    const page = await browser.open(confirm);
    const back = await browser.submit(page, '/account/confirm', { password: PASSWORD });
    const { acr, authTime } = await loginIn(back.headers.get('location')!);
    expect(acr).toBe('one_factor');
    expect(authTime).toBe(await loginTime());
  });

  it('is enough for a longer one, whose age the data service is told', async () => {
    await ageSession(600);
    const { authTime } = await loginIn(pathWith({ max_age: '3600' }));
    expect(authTime).toBe(await loginTime());
  });

  it('is not asked for twice with max_age=0', async () => {
    expect((await loginIn(pathWith({ max_age: '0' }))).acr).toBe('one_factor');
    await ageSession(61);
    expect((await browser.open(pathWith({ max_age: '0' }))).status).toBe(302);
  });
});

describe('Two factors', () => {
  it('are given in a session that has one, and then said of every token of the grant', async () => {
    const { secret } = await setUpApp(service, browser);
    browser = new BrowserSession(service.url);
    await givePassword(browser, user);
    await giveCode(browser, codeOf(secret, 1));
    const { acr, refreshToken } = await loginIn(pathWith({ acr_values: 'two_factors' }));
    expect(acr).toBe('two_factors');
    const { json } = await refresh(service.http, client, refreshToken);
    expect((await saidOf(json.access_token as string)).acr).toBe('two_factors');
    expect((await loginIn(pathWith({ acr_values: 'one_factor' }))).acr).toBe('two_factors');
  });

  it('are asked for of who has a second factor, and gave none in this session', async () => {
    await setUpApp(service, browser);
    await service.database.query('UPDATE sessions SET second_factor = false WHERE user_id = $1', [user.id]);
    const { headers } = await browser.open(pathWith({ acr_values: 'two_factors' }));
    expect(headers.get('location')).toMatch(/^\/account\/confirm\?/);
    expect((await loginIn(pathWith({ acr_values: 'two_factors one_factor' }))).acr).toBe('one_factor');
  });

  it('are asked for again if the page is decided by a login that has less; nothing is agreed to', async () => {
    await setUpApp(service, browser);
    const page = await browser.open(pathWith({ acr_values: 'two_factors' }));
    expect(page.status).toBe(200);
    await service.database.query('UPDATE sessions SET second_factor = false WHERE user_id = $1', [user.id]);
    const answer = await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toMatch(/^\/account\/confirm\?/);
    const codes = 'SELECT 1 FROM authorization_codes WHERE user_id = $1';
    expect(await service.database.query(codes, [user.id])).toEqual([]);
  });

  it('are as asked for in a sandbox, where nobody logs in', async () => {
    const sandbox = await service.make.client({ environment: 'sandbox' });
    const path = pathWith({ acr_values: 'two_factors', max_age: '60' }, sandbox);
    const page = await browser.open(path);
    const created = await browser.submit(page, '/o/authorize/', { decision: 'create_driver' });
    const chosen = await browser.open(created.headers.get('location')!);
    const driver = chosen.html
      .querySelector('input[name=driver], select[name=driver] option')!
      .getAttribute('value')!;
    const decided = await browser.submit(chosen, '/o/authorize/', { decision: 'authorize', driver });
    const { json } = await exchange(service.http, sandbox, paramsOf(decided).get('code')!);
    const own = await service.make.client({
      ...{ environment: 'sandbox', ownerId: sandbox.ownerId, scopes: ['token:introspect'] },
      ...{ grantTypes: ['client_credentials'], redirectUris: [] },
    });
    const form = { ...credentialsOf(own), token: json.access_token as string };
    expect((await service.http.send('/o/introspect', { form })).json).toMatchObject({ acr: 'two_factors' });
  });
});

it('The tokens of a client that asks nothing of the login say nothing of it', async () => {
  expect(await loginIn(pathWith({}))).toMatchObject({ acr: undefined, authTime: undefined });
});
