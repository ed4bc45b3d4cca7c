import { OAuth2Client, type OAuth2Token } from '@badgateway/oauth2-client';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { isAccepted, madeOnce, REDIRECT_URI, type TestClient, useSharedService } from '../support/spec.js';

const BOTH = 'charging_session:read vehicle:read';

const service = useSharedService();

const client = madeOnce(() => service.make.client());
const app = madeOnce(() => service.make.client({ type: 'public' }));
const inspector = madeOnce(() => service.make.operatorClient(['token:introspect']));
const user = madeOnce(() => service.make.user());
const browser = madeOnce(() => service.make.signedIn(user));

/** Does what the person does: opens the authorization page and submits it. Returns where the browser is redirected. */
const press = (url: URL, decision: 'authorize' | 'cancel' = 'authorize'): Promise<URL> =>
  browser.authorize(Object.fromEntries(url.searchParams), decision);

/** Only the requirement of TLS is relaxed, for loopback. */
const discover = (of: TestClient, authentication?: openid.ClientAuth): Promise<openid.Configuration> =>
  openid.discovery(new URL(service.url), of.id, undefined, authentication, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  });

describe('openid-client', () => {
  const ways: [name: string, authentication: (secret: string) => openid.ClientAuth][] = [
    ['client_secret_post', (secret) => openid.ClientSecretPost(secret)],
    ['client_secret_basic', (secret) => openid.ClientSecretBasic(secret)],
  ];

  /** Runs the whole code flow with PKCE; the library checks state and issuer. */
  async function authorize(config: openid.Configuration) {
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const expectedState = openid.randomState();
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: REDIRECT_URI,
      scope: BOTH,
      state: expectedState,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const checks = { pkceCodeVerifier, expectedState };
    return { callback: await press(url), checks };
  }

  it('understands a denied request, a wrong secret and a used code', async () => {
    const config = await discover(client, openid.ClientSecretPost(client.secret));
    const expectedState = openid.randomState();
    const url = openid.buildAuthorizationUrl(config, { redirect_uri: REDIRECT_URI, state: expectedState });
    const denied = await press(url, 'cancel');
    await expect(openid.authorizationCodeGrant(config, denied, { expectedState })).rejects.toMatchObject({
      error: 'access_denied',
    });
    const stranger = await discover(client, openid.ClientSecretBasic('wrong'));
    const challenge = openid.clientCredentialsGrant(stranger);
    await expect(challenge).rejects.toMatchObject({ code: 'OAUTH_WWW_AUTHENTICATE_CHALLENGE', status: 401 });
    const { callback, checks } = await authorize(config);
    await openid.authorizationCodeGrant(config, callback, checks);
    await expect(openid.authorizationCodeGrant(config, callback, checks)).rejects.toMatchObject({
      error: 'invalid_grant',
      status: 400,
    });
  });

  it.each(ways)('gets, introspects and revokes a client-credentials token by %s', async (_name, way) => {
    const config = await discover(client, way(client.secret));
    const tokens = await openid.clientCredentialsGrant(config, { scope: 'vehicle:read' });
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 36000, scope: 'vehicle:read' });
    const inspecting = await discover(inspector, way(inspector.secret));
    expect(await openid.tokenIntrospection(inspecting, tokens.access_token)).toMatchObject({
      active: true,
      client_id: client.id,
      sub: client.id,
    });
    await openid.tokenRevocation(config, tokens.access_token);
    expect(await openid.tokenIntrospection(inspecting, tokens.access_token)).toEqual({ active: false });
  });

  it.each(ways)('completes authorization, refresh and revocation by %s', async (_name, way) => {
    const config = await discover(client, way(client.secret));
    const { callback, checks } = await authorize(config);
    const first = await openid.authorizationCodeGrant(config, callback, checks);
    expect(first).toMatchObject({ token_type: 'bearer', expires_in: 36000, scope: BOTH });
    const second = await openid.refreshTokenGrant(config, first.refresh_token!);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    const users = await openid.fetchProtectedResource(
      config,
      second.access_token,
      new URL('/v2/users', service.url),
      'GET',
    );
    expect(await users.json()).toMatchObject([{ id: user.id, email: user.email }]);
    await openid.tokenRevocation(config, second.refresh_token!, { token_type_hint: 'refresh_token' });
    expect(await isAccepted(service.http, second.access_token)).toBe(false);
    await expect(openid.refreshTokenGrant(config, second.refresh_token!)).rejects.toMatchObject({
      error: 'invalid_grant',
    });
  });

  it('does the same as a public client', async () => {
    const config = await discover(app, openid.None());
    const { callback, checks } = await authorize(config);
    const first = await openid.authorizationCodeGrant(config, callback, checks);
    const second = await openid.refreshTokenGrant(config, first.refresh_token!, { scope: 'vehicle:read' });
    expect(second.scope).toBe('vehicle:read');
    await openid.tokenRevocation(config, second.refresh_token!);
    expect(await isAccepted(service.http, first.access_token)).toBe(false);
  });
});

describe('oauth4webapi', () => {
  const insecure = { [oauth.allowInsecureRequests]: true };

  async function discovered(): Promise<oauth.AuthorizationServer> {
    const issuer = new URL(service.url);
    const response = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    return oauth.processDiscoveryResponse(issuer, response);
  }

  it('recognises a refusal', async () => {
    const as = await discovered();
    const me: oauth.Client = { client_id: client.id };
    const auth = oauth.ClientSecretPost(client.secret);
    const response = await oauth.refreshTokenGrantRequest(as, me, auth, 'unknown', insecure);
    await expect(oauth.processRefreshTokenResponse(as, me, response)).rejects.toMatchObject({
      error: 'invalid_grant',
      error_description: expect.any(String) as string,
    });
    const wrong = oauth.ClientSecretPost('wrong');
    const refused = await oauth.clientCredentialsGrantRequest(as, me, wrong, {}, insecure);
    await expect(oauth.processClientCredentialsResponse(as, me, refused)).rejects.toBeInstanceOf(
      oauth.WWWAuthenticateChallengeError,
    );
    const revocation = await oauth.revocationRequest(as, me, wrong, 'x', insecure);
    await expect(oauth.processRevocationResponse(revocation)).rejects.toBeInstanceOf(
      oauth.WWWAuthenticateChallengeError,
    );
    const introspection = await oauth.introspectionRequest(as, me, auth, 'x', insecure);
    // The request used Basic, so the challenge must not name the Bearer scheme.
    await expect(oauth.processIntrospectionResponse(as, me, introspection)).rejects.toMatchObject({
      status: 403,
      cause: { error: 'insufficient_scope' },
    });
  });

  it.each(['confidential', 'public'] as const)(
    'completes the code flow with PKCE and a refresh as a %s client',
    async (type) => {
      const as = await discovered();
      const of = type === 'public' ? app : client;
      const me: oauth.Client = { client_id: of.id };
      const auth = type === 'public' ? oauth.None() : oauth.ClientSecretBasic(of.secret);
      const [verifier, state] = [oauth.generateRandomCodeVerifier(), oauth.generateRandomState()];
      const url = new URL(as.authorization_endpoint!);
      url.search = new URLSearchParams({
        response_type: 'code',
        client_id: of.id,
        redirect_uri: REDIRECT_URI,
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      }).toString();
      const callback = await press(url);
      expect(() => oauth.validateAuthResponse(as, me, callback, oauth.generateRandomState())).toThrow();
      expect(() =>
        oauth.validateAuthResponse({ ...as, issuer: 'https://evil.example' }, me, callback, state),
      ).toThrow();
      const parameters = oauth.validateAuthResponse(as, me, callback, state);
      const first = await oauth.processAuthorizationCodeResponse(
        as,
        me,
        await oauth.authorizationCodeGrantRequest(as, me, auth, parameters, REDIRECT_URI, verifier, insecure),
      );
      expect(first).toMatchObject({ token_type: 'bearer', expires_in: 36000, scope: BOTH });
      const second = await oauth.processRefreshTokenResponse(
        as,
        me,
        await oauth.refreshTokenGrantRequest(as, me, auth, first.refresh_token!, insecure),
      );
      expect(second.refresh_token).not.toBe(first.refresh_token);
      expect(await isAccepted(service.http, second.access_token)).toBe(true);
    },
  );
});

describe('@badgateway/oauth2-client, which parses everything that is labelled as JSON,', () => {
  const libraryOf = (of: TestClient) =>
    new OAuth2Client({ server: service.url, clientId: of.id, clientSecret: of.secret || undefined });

  async function signIn(library: OAuth2Client): Promise<OAuth2Token> {
    const [codeVerifier, state] = [openid.randomPKCECodeVerifier(), openid.randomState()];
    const request = { redirectUri: REDIRECT_URI, state, codeVerifier };
    const callback = await press(new URL(await library.authorizationCode.getAuthorizeUri(request)));
    return library.authorizationCode.getTokenFromCodeRedirect(callback, request);
  }

  it.each(['confidential', 'public'] as const)(
    'signs in, refreshes and revokes as a %s client',
    async (type) => {
      const library = libraryOf(type === 'public' ? app : client);
      const first = await signIn(library);
      const second = await library.refreshToken(first);
      await library.revoke(second, 'access_token');
      expect(await isAccepted(service.http, second.accessToken)).toBe(false);
      await library.revoke(second, 'refresh_token');
      expect(await isAccepted(service.http, first.accessToken)).toBe(false);
    },
  );

  it('gets the reason why a code does not work', async () => {
    const library = libraryOf(client);
    const refused = library.authorizationCode.getToken({ code: 'unknown', redirectUri: REDIRECT_URI });
    await expect(refused).rejects.toMatchObject({ oauth2Code: 'invalid_grant' });
  });
});
