import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { clientWithKeys, newKey, assertionOf, byAssertion, type ClientKey } from '../support/client-keys.js';
import { proofOf, thumbprintOf, tokenWith, withBound } from '../support/dpop.js';
import { newPkce, PASSWORD, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { madeForEach, madeOnce } from '../support/made.js';
import { credentialsOf, expectOAuthError, isAccepted } from '../support/oauth.js';
import { BrowserSession } from '../support/browser-session.js';
import { startInstance, useSharedService } from '../support/test-service.js';
import { endGrace } from '../support/tokens.js';
import type { Tokens } from '../support/factory.js';

const service = useSharedService({ instances: 2 });

const keys = madeOnce(async () => ({
  own: await newKey(),
  other: await newKey('EdDSA'),
  client: await newKey(),
}));
const app = madeOnce(() => service.make.client({ type: 'public' }));
const partner = madeOnce(() => service.make.client());
const bank = madeOnce(() =>
  clientWithKeys(service, [keys.client], {
    ...{ requirePkce: true, requirePushedAuthorizationRequests: true },
    ...{ dpopBoundAccessTokens: true, securityProfile: 'fapi_2' },
  }),
);
const user = madeOnce(() => service.make.user());
const browser = madeForEach(() => service.make.signedIn(user));

/** What authenticates the client. */
const identify = async (of: TestClient): Promise<Record<string, string | undefined>> =>
  of.tokenEndpointAuthMethod === 'private_key_jwt'
    ? byAssertion(await assertionOf(keys.client, of.id, service.url))
    : credentialsOf(of);
const ask = async (of: TestClient, form: Record<string, string>, key?: ClientKey) =>
  tokenWith(service.http, key, { ...(await identify(of)), ...form });

const push = async (of: TestClient, fields: Record<string, string>, key?: ClientKey) => {
  const dpop = key && (await proofOf(key, 'POST', `${service.url}/o/par`));
  const form = { ...(await identify(of)), response_type: 'code', redirect_uri: REDIRECT_URI, ...fields };
  return service.http.send('/o/par', { form, headers: dpop === undefined ? {} : { dpop } });
};

/** An approved code, and what exchanges it. `at`: whether it is bound at the page, or with the pushed request by its parameter or a proof. */
async function codeOf(of: TestClient, key?: ClientKey, at: 'page' | 'push' | 'proof' = 'page') {
  const pkce = newPkce();
  const challenge = { code_challenge: pkce.challenge, code_challenge_method: 'S256' };
  const request = { ...challenge, ...(key && at !== 'proof' ? { dpop_jkt: await thumbprintOf(key) } : {}) };
  const location = await browser.authorize(
    at === 'page'
      ? { response_type: 'code', client_id: of.id, redirect_uri: REDIRECT_URI, ...request }
      : {
          client_id: of.id,
          request_uri: (await push(of, request, at === 'proof' ? key : undefined)).json.request_uri as string,
        },
  );
  const code = location.searchParams.get('code')!;
  return { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI, code_verifier: pkce.verifier };
}

const firstTokens = async (of: TestClient, key?: ClientKey): Promise<Tokens> => {
  const answer = await ask(of, await codeOf(of, undefined, of.id === bank.id ? 'push' : 'page'), key);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.json as Tokens;
};
const refresh = (of: TestClient, token: string, key?: ClientKey) =>
  ask(of, { grant_type: 'refresh_token', refresh_token: token }, key);
const works = async (token: string, key: ClientKey) =>
  (await withBound(service.http, token, key)).status === 200;

describe('A code that is bound to a key', () => {
  it.each(['page', 'push', 'proof'] as const)(
    'by the %s is exchanged with that key only, and a refusal leaves it usable',
    async (at) => {
      const form = await codeOf(app, keys.own, at);
      expectOAuthError(await ask(app, form), 400, 'invalid_dpop_proof');
      expectOAuthError(await ask(app, form, keys.other), 400, 'invalid_dpop_proof');
      const answer = await ask(app, form, keys.own);
      expect(answer.json).toMatchObject({ token_type: 'DPoP' });
      expect(await works(answer.json.access_token as string, keys.own)).toBe(true);
    },
  );

  it('is not requested with something that is no thumbprint, or with another key than that of the proof', async () => {
    const pkce = { code_challenge: newPkce().challenge, code_challenge_method: 'S256' };
    expectOAuthError(await push(app, { ...pkce, dpop_jkt: 'x' }), 400, 'invalid_request');
    const jkt = await thumbprintOf(keys.other);
    expectOAuthError(await push(app, { ...pkce, dpop_jkt: jkt }, keys.own), 400, 'invalid_request');
    expect((await push(app, { ...pkce, dpop_jkt: jkt }, keys.other)).status).toBe(201);
    const wrong = await proofOf(keys.own, 'POST', `${service.url}/o/token`);
    const form = { ...credentialsOf(app), response_type: 'code', redirect_uri: REDIRECT_URI, ...pkce };
    expectOAuthError(
      await service.http.send('/o/par', { form, headers: { dpop: wrong } }),
      400,
      'invalid_dpop_proof',
    );
  });
});

describe('A refresh token', () => {
  it('of a public client is bound to the key; who has another ends nothing', async () => {
    const { refresh_token: token, access_token: first } = await firstTokens(app, keys.own);
    expectOAuthError(await refresh(app, token), 400, 'invalid_dpop_proof');
    expectOAuthError(await refresh(app, token, keys.other), 400, 'invalid_dpop_proof');
    const next = (await refresh(app, token, keys.own)).json as Tokens;
    await endGrace(service, token);
    // It was retired long ago: with its key this would end the grant.
    expectOAuthError(await refresh(app, token, keys.other), 400, 'invalid_dpop_proof');
    expect([await works(first, keys.own), await works(next.access_token, keys.own)]).toEqual([true, true]);
    expectOAuthError(await refresh(app, token, keys.own), 400, 'invalid_grant');
    expect(await works(next.access_token, keys.own)).toBe(false);
  });

  it('of a confidential client is not bound', async () => {
    const { refresh_token: token } = await firstTokens(partner, keys.own);
    const next = (await refresh(partner, token, keys.other)).json as Tokens;
    expect(await works(next.access_token, keys.other)).toBe(true);
    const last = await refresh(partner, next.refresh_token);
    expect(last.json.token_type).toBe('Bearer');
    expect(await isAccepted(service.http, last.json.access_token as string)).toBe(true);
  });

  it.each(['public', 'confidential'] as const)(
    'of a %s client gives the same pair again for the same key only, which does not use it up',
    async (type) => {
      const of = type === 'public' ? app : partner;
      const { refresh_token: token } = await firstTokens(of, keys.own);
      const next = (await refresh(of, token, keys.own)).json as Tokens;
      expectOAuthError(await refresh(of, token, keys.other), 400, 'invalid_dpop_proof');
      expectOAuthError(await refresh(of, token), 400, 'invalid_dpop_proof');
      const again = (await refresh(of, token, keys.own)).json as Tokens;
      expect([again.access_token, again.refresh_token]).toEqual([next.access_token, next.refresh_token]);
      expect((await refresh(of, next.refresh_token, keys.own)).status).toBe(200);
    },
  );

  it('from before, of a client that is switched to DPoP, needs a proof', async () => {
    const of = await service.make.client();
    const { refresh_token: token, access_token: first } = await firstTokens(of);
    await service.make.updateClient(of, { dpopBoundAccessTokens: true });
    expect(await isAccepted(service.http, first)).toBe(true);
    expectOAuthError(await refresh(of, token), 400, 'invalid_dpop_proof');
    expect((await refresh(of, token, keys.own)).json.token_type).toBe('DPoP');
  });
});

describe('A client with the profile fapi_2', () => {
  it('has to push, and to send a proof with the code', async () => {
    const form = await codeOf(bank, undefined, 'push');
    expectOAuthError(await ask(bank, form), 400, 'invalid_dpop_proof');
    expect((await ask(bank, form, keys.own)).json.token_type).toBe('DPoP');
  });

  it('refreshes without rotation: each answer has the same refresh token, which lives on, and an access token of its own', async () => {
    const first = await firstTokens(bank, keys.own);
    const token = first.refresh_token;
    const grant = '(SELECT id FROM grants WHERE client_id = $1 ORDER BY id DESC LIMIT 1)';
    await service.database.query(
      `UPDATE grants SET refresh_expires_at = now() + interval '1 hour' WHERE id = ${grant}`,
      [bank.id],
    );
    const answers = await Promise.all(
      [keys.own, keys.other, keys.own].map((key) => refresh(bank, token, key)),
    );
    expect(answers.map(({ json }) => json.refresh_token as string)).toEqual([token, token, token]);
    for (const { json } of answers) expect(json.refresh_token_expires_in).toBeGreaterThan(29 * 86_400);
    const [one, two, three] = answers.map(({ json }) => json.access_token as string);
    expect(new Set([first.access_token, one, two, three]).size).toBe(4);
    // Each is revoked alone.
    const revoked = { ...(await identify(bank)), token: one };
    expect((await service.http.send('/o/revoke_token/', { form: revoked })).status).toBe(200);
    const left = await Promise.all([
      ...[works(first.access_token, keys.own), works(one!, keys.own)],
      ...[works(two!, keys.other), works(three!, keys.own)],
    ]);
    expect(left).toEqual([true, false, true, true]);
    // The refresh token ends all of them.
    const all = { ...(await identify(bank)), token };
    expect((await service.http.send('/o/revoke_token/', { form: all })).status).toBe(200);
    expectOAuthError(await refresh(bank, token, keys.own), 400, 'invalid_grant');
    expect([await works(first.access_token, keys.own), await works(two!, keys.other)]).toEqual([
      false,
      false,
    ]);
  });
});

it('A refresh token from the profile rotates once its client has left the profile', async () => {
  const of = await clientWithKeys(service, [keys.client], {
    ...{ requirePkce: true, requirePushedAuthorizationRequests: true },
    ...{ dpopBoundAccessTokens: true, securityProfile: 'fapi_2' },
  });
  const first = (await ask(of, await codeOf(of, undefined, 'push'), keys.own)).json as Tokens;
  const kept = (await refresh(of, first.refresh_token, keys.own)).json as Tokens;
  await service.make.updateClient(of, { securityProfile: null });
  const next = (await refresh(of, kept.refresh_token, keys.own)).json as Tokens;
  expect([kept.refresh_token === first.refresh_token, next.refresh_token === kept.refresh_token]).toEqual([
    true,
    false,
  ]);
  const again = (await refresh(of, kept.refresh_token, keys.own)).json as Tokens;
  expect(again.access_token).toBe(next.access_token);
  expect(await works(next.access_token, keys.own)).toBe(true);
});

describe('Stock libraries follow FAPI 2.0: keys, PAR, PKCE and DPoP', () => {
  const state = 's';
  const insecure = { [oauth.allowInsecureRequests]: true };
  const codeAt = async (address: URL): Promise<URL> => {
    const page = await browser.open(address.pathname + address.search);
    const answer = await browser.submit(page, '/o/authorize/', { decision: 'authorize' });
    return new URL(answer.headers.get('location')!);
  };

  it('oauth4webapi', async () => {
    const [issuer, of] = [new URL(service.url), { client_id: bank.id }];
    const discovery = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure });
    const server = await oauth.processDiscoveryResponse(issuer, discovery);
    const by = oauth.PrivateKeyJwt({ key: keys.client.privateKey, kid: keys.client.kid });
    const DPoP = oauth.DPoP({}, await oauth.generateKeyPair('ES256'));
    const options = { DPoP, ...insecure };
    const { verifier, challenge } = newPkce();
    const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
    const asked = new URLSearchParams({
      ...{ response_type: 'code', redirect_uri: REDIRECT_URI, state },
      ...pkce,
    });
    const pushed = await oauth.pushedAuthorizationRequest(server, of, by, asked, options);
    const { request_uri } = await oauth.processPushedAuthorizationResponse(server, of, pushed);
    const address = new URL(server.authorization_endpoint!);
    address.search = new URLSearchParams({ ...of, request_uri }).toString();
    const checked = oauth.validateAuthResponse(server, of, await codeAt(address), state);
    const first = await oauth.processAuthorizationCodeResponse(
      server,
      of,
      await oauth.authorizationCodeGrantRequest(server, of, by, checked, REDIRECT_URI, verifier, options),
    );
    const next = await oauth.processRefreshTokenResponse(
      server,
      of,
      await oauth.refreshTokenGrantRequest(server, of, by, first.refresh_token!, options),
    );
    expect([first.token_type, next.token_type, next.refresh_token]).toEqual([
      ...['dpop', 'dpop'],
      first.refresh_token,
    ]);
    for (const { access_token: token } of [first, next]) {
      const url = new URL('/v2/users?page_size=1', issuer);
      const answer = await oauth.protectedResourceRequest(token, 'GET', url, undefined, undefined, options);
      expect(answer.status).toBe(200);
    }
  });

  it('openid-client, also with nonces', async () => {
    const strict = await startInstance(service.database, { DPOP_NONCE: 'true' });
    try {
      const by = openid.PrivateKeyJwt({ key: keys.client.privateKey, kid: keys.client.kid });
      const config = await openid.discovery(new URL(strict.url), bank.id, undefined, by, {
        algorithm: 'oauth2',
        execute: [openid.allowInsecureRequests],
      });
      const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair('ES256'));
      const { verifier, challenge } = newPkce();
      const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
      const asked = { redirect_uri: REDIRECT_URI, state, ...pkce };
      const address = await openid.buildAuthorizationUrlWithPAR(config, asked, { DPoP });
      const checks = { pkceCodeVerifier: verifier, expectedState: state };
      const there = new BrowserSession(strict.url);
      await there.logIn(user.email, PASSWORD);
      const cameTo = await there.authorize(Object.fromEntries(address.searchParams));
      const tokens = await openid.authorizationCodeGrant(config, cameTo, checks, undefined, { DPoP });
      expect(tokens.token_type).toBe('dpop');
      const url = new URL('/v2/users', strict.url);
      const ask = () =>
        openid.fetchProtectedResource(config, tokens.access_token, url, 'GET', undefined, undefined, {
          DPoP,
        });
      expect((await ask()).status).toBe(200);
      const next = await openid.refreshTokenGrant(config, tokens.refresh_token!, undefined, { DPoP });
      expect(next.refresh_token).toBe(tokens.refresh_token);
    } finally {
      await strict.app.close();
    }
  });
});
