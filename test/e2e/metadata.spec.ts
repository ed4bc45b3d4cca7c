import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { REDIRECT_URI } from '../support/factory.js';
import { credentialsOf, expectOAuthError } from '../support/oauth.js';
import { useSharedService } from '../support/test-service.js';

const PATH = '/.well-known/oauth-authorization-server';
const OPENID_PATH = '/.well-known/openid-configuration';

const service = useSharedService();

describe('The authorization server metadata', () => {
  it.each([PATH, OPENID_PATH])('are JSON for any client from any origin at %s', async (path) => {
    const answer = await service.http.get(path, { headers: { origin: 'https://app.example' } });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toMatch(/^application\/json(;|$)/);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
    expect((await service.http.send(path, { method: 'POST' })).status).toBe(405);
  });

  it('are the same where OpenID Connect has them, and promise no ID tokens there', async () => {
    const [oauth, openid] = [(await service.http.get(PATH)).json, (await service.http.get(OPENID_PATH)).json];
    const issuer = service.settings.baseUrl;
    expect(openid).toEqual({
      ...oauth,
      // What Spring's `issuer-uri` asks for, which stops at these metadata once they are there.
      subject_types_supported: ['public'],
      jwks_uri: `${issuer}/.well-known/consent-receipts/jwks.json`,
    });
    expect(openid.scopes_supported).not.toContain('openid');
    for (const promised of [
      'id_token_signing_alg_values_supported',
      'userinfo_endpoint',
      'claims_supported',
    ]) {
      expect(openid).not.toHaveProperty(promised);
    }
  });

  it('name the same issuer as redirects and introspection', async () => {
    const { issuer } = (await service.http.get(PATH)).json;
    expect(issuer).toBe(service.settings.baseUrl);
    const [client, user] = [await service.make.client(), await service.make.user()];
    const browser = await service.make.signedIn(user);
    const location = await browser.authorize({
      response_type: 'code',
      client_id: client.id,
      redirect_uri: REDIRECT_URI,
    });
    expect(location.searchParams.get('iss')).toBe(issuer);
    const inspector = await service.make.operatorClient(['token:introspect']);
    const token = await service.make.clientToken(client);
    const form = { token, ...credentialsOf(inspector) };
    expect((await service.http.send('/o/introspect/', { form })).json).toMatchObject({ iss: issuer });
  });

  it('contain everything that RFC 8414 requires, and only endpoints of the issuer', async () => {
    const { json } = await service.http.get(PATH);
    expect(json).toMatchObject({
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      authorization_response_iss_parameter_supported: true,
      require_pushed_authorization_requests: false,
      dpop_signing_alg_values_supported: ['PS256', 'ES256', 'EdDSA'],
      ui_locales_supported: ['en', 'de', 'fr', 'nl', 'es'],
    });
    const { pathname } = new URL(json.service_documentation as string);
    expect((await service.http.get(pathname)).status).toBe(200);
    expect([...json.grant_types_supported].sort()).toEqual([
      'authorization_code',
      'client_credentials',
      'refresh_token',
    ]);
    expect(json.response_modes_supported ?? ['query']).toEqual(['query']);
    const endpoints = Object.entries(json as Record<string, unknown>).filter(([name]) =>
      name.endsWith('_endpoint'),
    );
    expect(endpoints.map(([name]) => name).sort()).toEqual([
      'authorization_endpoint',
      'introspection_endpoint',
      'pushed_authorization_request_endpoint',
      'revocation_endpoint',
      'token_endpoint',
    ]);
    for (const [, url] of endpoints) expect(url).toMatch(new RegExp(`^${service.settings.baseUrl}/o/`));
  });

  it('name endpoints that work as such', async () => {
    const { json } = await service.http.get(PATH);
    const client = await service.make.operatorClient(['token:introspect']);
    const form = { ...credentialsOf(client), token: 'x', grant_type: 'client_credentials' };
    for (const name of ['token_endpoint', 'revocation_endpoint', 'introspection_endpoint']) {
      expect((await service.http.send(json[name] as string, { form })).status).toBe(200);
    }
    expect((await service.http.get(json.authorization_endpoint as string)).status).toBe(400);
  });

  it('name the client authentication methods that each endpoint accepts', async () => {
    const { json } = await service.http.get(PATH);
    const methods = ['client_secret_basic', 'client_secret_post'];
    const all = [...methods, 'none', 'private_key_jwt'];
    expect([...json.token_endpoint_auth_methods_supported].sort()).toEqual(all);
    expect([...json.revocation_endpoint_auth_methods_supported].sort()).toEqual(all);
    for (const endpoint of ['token', 'revocation', 'introspection']) {
      expect(json[`${endpoint}_endpoint_auth_signing_alg_values_supported`]).toEqual([
        'PS256',
        'ES256',
        'EdDSA',
      ]);
    }
    // RFC 8414 §2: these values may also come from the registry of access token types.
    const introspection = json.introspection_endpoint_auth_methods_supported as string[];
    expect([...introspection].sort()).toEqual(['Bearer', ...methods, 'private_key_jwt']);
    const app = await service.make.client({ type: 'public' });
    const refused = await service.http.send('/o/introspect/', { form: { client_id: app.id, token: 'x' } });
    expectOAuthError(refused, 403, 'insufficient_scope');
  });

  it('list the scopes of the current catalogue', async () => {
    const scopes = async () => (await service.http.get(PATH)).json.scopes_supported as string[];
    const stored = await service.database.query<{ name: string }>('SELECT name FROM scopes');
    expect((await scopes()).sort()).toEqual(stored.map(({ name }) => name).sort());
    expect(stored.length).toBeGreaterThanOrEqual(6);
    await service.app
      .get(ScopesService)
      .put({ name: 'invoice:read', description: 'See your invoices', audience: 'partner' }, SERVICE_ACTOR);
    expect(await scopes()).toContain('invoice:read');
  });

  it('follow the configured base URL', async () => {
    const settings = service.app.get(Settings);
    const { baseUrl } = settings;
    Object.assign(settings, { baseUrl: 'https://charging.example' });
    const { json } = await service.http.get(PATH).finally(() => Object.assign(settings, { baseUrl }));
    expect(json).toMatchObject({
      issuer: 'https://charging.example',
      token_endpoint: 'https://charging.example/o/token',
      revocation_endpoint: 'https://charging.example/o/revoke_token/',
    });
  });
});
