import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { newSecret } from '#platform/secrets/tokens.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { newPkce, PASSWORD, REDIRECT_URI } from '../support/factory.js';
import { authorizePath, BrowserSession, postedAnew } from '../support/browser-session.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { Secrets } from '../support/secrets.js';
import { STEPS_OF_USERS } from '../support/secrets-of-users.js';
import { useServiceWithMailAndProvider } from '../support/set-up.js';
import { type TestService, TYPE, WEBHOOK_ENV, Webhooks } from '../support/spec.js';
import { endGrace } from '../support/tokens.js';
import { listOf } from '../support/list-of.js';

describe('The search for secrets in database and log', () => {
  const idp = new IdentityProvider();
  const { service, smtp } = useServiceWithMailAndProvider(idp, [{}], {
    env: { ...WEBHOOK_ENV, SIGN_UP: 'true' },
  });
  const secrets = new Secrets();

  /** Returns every row of every table as text; binary values also decoded as text. */
  async function dump(): Promise<string> {
    const columns = await service.database.query<{ table: string; column: string; type: string }>(
      `SELECT table_name AS "table", column_name AS "column", data_type AS type
         FROM information_schema.columns WHERE table_schema = 'public'`,
    );
    const parts: string[] = [];
    for (const table of new Set(columns.map((column) => column.table))) {
      const rows = await service.database.query<{ line: string }>(`SELECT t::text AS line FROM "${table}" t`);
      parts.push(...rows.map((row) => `${table} ${row.line}`));
    }
    for (const { table, column } of columns.filter(({ type }) => type === 'bytea')) {
      const rows = await service.database.query<{ bytes: Buffer | null }>(
        `SELECT "${column}" AS bytes FROM "${table}"`,
      );
      parts.push(...rows.map(({ bytes }) => `${table}.${column} ${bytes?.toString('latin1') ?? ''}`));
    }
    return parts.join('\n');
  }

  const send = (...args: Parameters<TestService['http']['send']>) => service.http.send(...args);

  it('finds a secret that is stored in plain text, so that finding none is meaningful', async () => {
    const probe = new Secrets();
    probe.add('probe', 'cds_at_a-secret-for-this-test-alone-000000000000000');
    const [secret] = [...probe.seen.keys()];
    for (const form of [
      secret!,
      `x${Buffer.from(`id:${secret}`).toString('base64')}y`,
      `?t=${encodeURIComponent(secret!)}`,
      Buffer.from(`..${secret}`).toString('base64url'),
      Buffer.from(secret!).toString('hex'),
    ]) {
      expect(probe.in(`before ${form} after`)).not.toEqual([]);
    }
    expect(probe.in('nothing of it')).toEqual([]);
  });

  it('finds none after everything that partners, users and operators can do', async () => {
    const ofPartners = [signInAndConsent, tokensAndTheirEnds, portal, administration, webhooks];
    for (const step of ofPartners) await step();
    for (const step of STEPS_OF_USERS) await step({ service, smtp, idp, secrets });
    await mistakes();
    const kinds = new Set([...secrets.seen.values()]);
    expect([...kinds].sort()).toEqual(
      listOf(`
      CSRF token, access token, authorization code, client secret, code of a provider, cookie csrf,
      cookie known_browser, cookie passkey_new, cookie passkey_sign_in, cookie pending_sign_in,
      cookie portal_session, cookie session, cookie sign_in, email key, endpoint secret, invitation key,
      key of an app, key to data, nonce of a sign-in, password, password key, portal key, recovery code,
      refresh token, secret at a provider, secret for tokens, sign-up key, state of a sign-in
    `),
    );
    const text = await dump();
    expect(text.length).toBeGreaterThan(5_000);
    expect(secrets.in(text)).toEqual([]);
    const log = service.log.join('\n');
    expect(service.log.length).toBeGreaterThan(40);
    expect(secrets.in(log)).toEqual([]);
    expect(log).not.toMatch(/cds_[a-z]{2}_|whsec_|argon2id\$/);
  });

  let client: Awaited<ReturnType<TestService['make']['client']>>;
  let tokens: { access_token: string; refresh_token: string };
  const basic = () => client;

  async function signInAndConsent(): Promise<void> {
    client = await service.make.client();
    secrets.add('client secret', client.secret);
    const user = await service.make.user({ password: secrets.add('password', `${PASSWORD} of the driver`) });
    const browser = new BrowserSession(service.url);
    const pkce = newPkce();
    const query = { response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI };
    const challenge = { code_challenge: pkce.challenge, code_challenge_method: 'S256' };
    const login = await browser.open('/login');
    secrets.csrf(login);
    secrets.cookies(browser);
    const wrong = secrets.add('password', 'a wrong password that was typed');
    await browser.submit(login, '/login', { email: user.email, password: wrong });
    await browser.submit(login, '/login', { email: wrong, password: wrong });
    await browser.logIn(user.email, `${PASSWORD} of the driver`);
    const consent = await browser.open(authorizePath({ ...query, ...challenge, state: 'a state' }));
    secrets.csrf(consent);
    secrets.cookies(browser);
    const answer = await browser.submit(consent, '/o/authorize/', { decision: 'authorize' });
    const code = new URL(answer.headers.get('location')!).searchParams.get('code');
    const form = {
      grant_type: 'authorization_code',
      code: secrets.add('authorization code', code),
      redirect_uri: REDIRECT_URI,
    };
    const wrongVerifier = await service.http.token({ ...form, code_verifier: newPkce().verifier }, basic());
    expect(wrongVerifier.status).toBe(400);
    tokens = secrets.tokens(await service.http.token({ ...form, code_verifier: pkce.verifier }, basic()));
    expect((await service.http.token({ ...form, code_verifier: pkce.verifier }, basic())).status).toBe(400);
    const again = await service.make.tokens(client, await service.make.user());
    tokens = {
      access_token: secrets.add('access token', again.access_token),
      refresh_token: again.refresh_token,
    };
    secrets.add('refresh token', again.refresh_token);
    await browser.submit(await browser.open('/'), '/logout');
  }

  async function tokensAndTheirEnds(): Promise<void> {
    const refresh = (token: string) =>
      service.http.token({ grant_type: 'refresh_token', refresh_token: token }, basic());
    const first = secrets.tokens(await refresh(tokens.refresh_token));
    secrets.tokens(await refresh(tokens.refresh_token));
    const second = secrets.tokens(await refresh(first.refresh_token));
    expect((await refresh(tokens.refresh_token)).status).toBe(400);
    await send('/v2/users', { bearer: second.access_token });
    const operator = await service.make.operatorClient();
    const by = { id: operator.id, secret: secrets.add('client secret', operator.secret) };
    const introspected = await send('/o/introspect', { form: { token: second.access_token }, basic: by });
    expect(introspected.json.active).toBe(true);
    await send('/o/introspect', { form: { token: second.refresh_token }, basic: by });
    await send('/o/revoke_token/', { form: { token: first.access_token }, basic: basic() });
    const revoked = await send('/o/revoke_token/', { form: { token: second.refresh_token }, basic: basic() });
    expect(revoked.status).toBe(200);
    // A replay after the grace time revokes the grant.
    const late = await service.make.tokens(client, await service.make.user());
    secrets.add('access token', late.access_token);
    secrets.add('refresh token', late.refresh_token);
    secrets.tokens(await refresh(late.refresh_token));
    await endGrace(service, late.refresh_token);
    expect((await refresh(late.refresh_token)).json.error).toBe('invalid_grant');
  }

  async function portal(): Promise<void> {
    const bearer = secrets.add('access token', await service.make.clientToken(client));
    const newLink = async () => {
      const { url } = (await send('/webhook_portal', { bearer })).json as { url: string };
      secrets.add('portal key', url.split('/').at(-1));
      return url;
    };
    const [url] = [await newLink(), await newLink()];
    const browser = new BrowserSession(service.url);
    const { pathname } = new URL(url);
    const page = await browser.open(pathname);
    secrets.csrf(page);
    expect((await browser.submit(page, pathname)).status).toBe(303);
    expect((await browser.submit(page, pathname, postedAnew())).status).toBe(410);
    secrets.cookies(browser);
    secrets.csrf(await browser.open('/portal'));
    for (const odd of [`${pathname}?x=1`, `${pathname}/more`]) await browser.open(odd);
    await browser.open(pathname, { form: {} });
    await browser.open(pathname, { method: 'PUT' });
  }

  async function administration(): Promise<void> {
    const operator = await service.make.operatorClient();
    secrets.add('client secret', operator.secret);
    const bearer = secrets.add('access token', await service.make.clientToken(operator));
    const created = await send('/admin/clients', {
      bearer,
      json: {
        name: 'Made',
        type: 'confidential',
        grant_types: ['client_credentials'],
        redirect_uris: [],
        scopes: ['vehicle:read'],
        owner_id: client.ownerId,
      },
    });
    secrets.add('client secret', created.json.client_secret as string);
    const rotated = await send(`/admin/clients/${created.json.client_id}/secrets`, { bearer, json: {} });
    secrets.add('client secret', rotated.json.client_secret as string);
    await send(`/admin/clients/${created.json.client_id}`, {
      method: 'PATCH',
      bearer,
      json: { enabled: false },
    });
    await send('/admin/audit_events', { bearer });
  }

  async function webhooks(): Promise<void> {
    const hooks = await Webhooks.start(service);
    secrets.add('access token', hooks.bearer);
    const owned = await service.make.client();
    secrets.add('client secret', owned.secret);
    const endpoint = await hooks.endpoint(owned, { types: [TYPE], reply: 500 });
    secrets.add('endpoint secret', endpoint.secret);
    const user = await hooks.consentedUser(owned);
    const endpoints = service.app.get(EndpointsService);
    const { secret } = await endpoints.rotateSecret(endpoint.id, owned.id, SERVICE_ACTOR);
    secrets.add('endpoint secret', secret);
    const kept = await endpoints.get(endpoint.id, owned.id);
    expect(await endpoints.revealSecret(kept, SERVICE_ACTOR)).toBe(secret);
    const clientSecret = 'secret-of-a-receiver-at-its-own-authorization-server';
    secrets.add('secret for tokens', clientSecret);
    const authentication = {
      ...{ type: 'client_credentials', token_url: `${idp.url}/token`, client_id: 'unknown there' },
      client_secret: clientSecret,
    };
    const behind = await hooks.add(owned, { url: hooks.receiver.url('/behind-oauth'), authentication });
    expect(behind.status).toBe(201);
    await hooks.change(behind.json.id as string, { authentication, client_secret: clientSecret });
    await hooks.change(behind.json.id as string, {
      authentication: { ...authentication, token_url: `https://u:${clientSecret}@127.0.0.1/` },
    });
    const { id: behindId } = (
      await hooks.deliveriesOf((await hooks.publish(user.id)).json.id as string)
    ).find((row) => row.endpoint_id === behind.json.id)!;
    await hooks.attempted(behindId);
    await hooks.change(behind.json.id as string, { enabled: false });
    const { id } = await hooks.publishOne(user.id);
    await hooks.attempted(id);
    const path = `/admin/webhook_endpoints/${endpoint.id}`;
    await send(path, { method: 'PATCH', bearer: hooks.bearer, json: { description: 'x', secret } });
    await send(path, {
      method: 'PATCH',
      bearer: hooks.bearer,
      json: { url: `http://u:${secret}@127.0.0.1/` },
    });
    const shown = await Promise.all(
      [
        path,
        `/admin/clients/${owned.id}/webhook_endpoints`,
        '/admin/deliveries',
        `/admin/deliveries/${id}`,
      ].map((each) => send(each, { bearer: hooks.bearer })),
    );
    expect(shown.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(secrets.in(shown.map(({ text }) => text).join())).toEqual([]);
    const [sealed] = await service.database.query<{ a: Buffer; b: Buffer }>(
      'SELECT sealed_secret AS a, sealed_previous_secret AS b FROM webhook_endpoints WHERE id = $1',
      [endpoint.id],
    );
    // AES-256-GCM adds a nonce and a tag to the sealed secret.
    for (const each of [sealed!.a, sealed!.b]) expect(each.length).toBeGreaterThanOrEqual(50 + 12 + 16);
    await hooks.stop();
  }

  async function mistakes(): Promise<void> {
    const bearer = await service.make.clientToken(client);
    secrets.add('access token', bearer);
    for (const path of ['/v2/users', '/webhook_portal', '/nothing']) {
      await send(`${path}?access_token=${bearer}`);
      await send(`${path}?access_token=${bearer}`, { bearer });
      await send(`${path}/${bearer}`, { bearer });
      await send(path, { headers: { 'x-request-id': `sent ${bearer}`, 'user-agent': 'x', referer: bearer } });
    }
    await send(`/o/token?client_secret=${client.secret}`, { form: { grant_type: 'client_credentials' } });
    await send('/o/token', { form: { grant_type: client.secret, client_id: client.secret, scope: bearer } });
    await send('/o/token', {
      form: { grant_type: 'client_credentials', scope: client.secret },
      basic: basic(),
    });
    await send('/admin/users', { bearer, json: { email: bearer, password: client.secret } });
    await send(`/o/authorize?client_id=${client.secret}&state=${bearer}`);
    await send(`/login?return_to=/portal/login/${bearer}`);
    // An unexpected error while secrets are being handled.
    const code = secrets.add('authorization code', newSecret('authorizationCode'));
    const away = ['consents', 'authorization_codes', 'revoked_access_tokens'];
    for (const table of away) await service.database.query(`ALTER TABLE ${table} RENAME TO ${table}_away`);
    const failures = await Promise.all([
      send('/v2/users', { bearer }),
      service.http.token({ grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI }, basic()),
      send('/o/revoke_token/', { form: { token: bearer }, basic: basic() }),
    ]);
    for (const table of away) await service.database.query(`ALTER TABLE ${table}_away RENAME TO ${table}`);
    expect(failures.map(({ status }) => status)).toEqual([500, 500, 500]);
    expect(secrets.in(failures.map(({ text }) => text).join())).toEqual([]);
  }
});
