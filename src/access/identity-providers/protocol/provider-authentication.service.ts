import { Injectable } from '@nestjs/common';
import { jwtVerify } from 'jose';
import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import type { IdentityProvider } from '#platform/config/identity-providers.js';
import { Settings } from '#platform/config/settings.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { SignInRefused } from '../refusals.js';
import { ASYMMETRIC_ALGORITHMS, CLOCK_TOLERANCE_SECONDS } from './provider-metadata.js';
import { claimAt, requireStrength, type Claims } from './claims.js';
import { personOf, type Person } from './person.js';
import { ProviderClients, type ProviderClient } from './provider-clients.service.js';
import { isSaidByBrowser, refusalOfError } from './refusal-of-error.js';

/** Contract §15: how recent an authentication must be when the user is asked to authenticate again. */
const RECENT_SECONDS = 15 * 60;

/**
 * The parameters that ask a provider to authenticate someone again. With `prompt`, `max_age` only makes it send `auth_time`,
 * which is the proof: the request itself goes through the browser and could be changed there.
 */
const STEP_UP = {
  'max_age=0': { max_age: '0' },
  'max_age=1': { max_age: '1' },
  'prompt=login': { prompt: 'login', max_age: String(RECENT_SECONDS) },
};

/** The values that the answer to an authentication is checked against. */
export interface AuthenticationRequest {
  state: string;
  nonce: string;
  codeVerifier: string;
}

/** OpenID Connect with a provider: authorization code with PKCE, `state` and `nonce`. Every failure is a `SignInRefused`. */
@Injectable()
export class ProviderAuthentication {
  constructor(
    private readonly providerClients: ProviderClients,
    private readonly settings: Settings,
  ) {}

  /** Begins an authentication; returns the URL to send the browser to. `again`: the person has to authenticate now. */
  async begin(
    provider: IdentityProvider,
    { again }: { again: boolean },
  ): Promise<{ url: URL; request: AuthenticationRequest }> {
    const { config } = await this.providerClients.of(provider);
    const { acrValues, responseMode } = provider;
    const request = { state: randomState(), nonce: randomNonce(), codeVerifier: randomPKCECodeVerifier() };
    const url = buildAuthorizationUrl(config, {
      redirect_uri: this.redirectUriOf(provider),
      scope: provider.scope,
      state: request.state,
      nonce: request.nonce,
      code_challenge: await calculatePKCECodeChallenge(request.codeVerifier),
      code_challenge_method: 'S256',
      ...(acrValues ? { acr_values: acrValues.join(' ') } : {}),
      ...(responseMode ? { response_mode: responseMode } : {}),
      ...(again ? STEP_UP[provider.stepUp ?? 'max_age=0'] : {}),
    });
    return { url, request };
  }

  /** Finishes an authentication with the query of the redirect back; `again`: of whom it has to be recent. */
  async finish(
    provider: IdentityProvider,
    { state, nonce, codeVerifier }: AuthenticationRequest,
    query: string,
    { again }: { again?: Pick<SignedInUser, 'operatorRole'> },
  ): Promise<Person> {
    const client = await this.providerClients.of(provider);
    try {
      const answer = await authorizationCodeGrant(
        client.config,
        new URL(`${this.redirectUriOf(provider)}?${query}`),
        { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: codeVerifier, idTokenExpected: true },
      );
      const idToken = await verifyIdToken(client, answer.id_token!);
      if (again && !isTakenAsRecent(provider, idToken.auth_time, again)) requireRecent(idToken);
      requireStrength(provider, idToken);
      const userinfo = await userinfoOf(client, idToken, answer.access_token);
      return { ...personOf(provider, idToken, userinfo), idToken: answer.id_token! };
    } catch (error) {
      if (!isSaidByBrowser(error)) this.providerClients.forget(provider);
      throw refusalOfError(error);
    }
  }

  redirectUriOf({ id }: IdentityProvider): string {
    return `${this.settings.baseUrl}/login/callback/${id}`;
  }
}

/** Verifies the signature with the provider's keys; the code exchange alone would rely on TLS. */
async function verifyIdToken({ metadata, provider, keys }: ProviderClient, idToken: string): Promise<Claims> {
  const { payload } = await jwtVerify<Claims>(idToken, keys, {
    issuer: metadata.issuer,
    audience: provider.clientId,
    algorithms: ASYMMETRIC_ALGORITHMS,
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
  });
  // Checked whenever it is present, not only with several audiences (OpenID Connect Core §3.1.3.7).
  if (payload.azp !== undefined && payload.azp !== provider.clientId) {
    throw new SignInRefused('provider_answer_invalid', 'the ID token was issued for another client');
  }
  const latest = Date.now() / 1000 + CLOCK_TOLERANCE_SECONDS;
  for (const claim of ['iat', 'auth_time'] as const) {
    if (Number(payload[claim] ?? 0) > latest)
      throw new SignInRefused('provider_answer_invalid', `${claim} of the ID token is in the future`);
  }
  return payload;
}

/** Whether this answer alone shows that someone has logged in there now, because the provider says nothing about the time. */
export const isTakenAsRecent = (
  provider: IdentityProvider,
  authTime: unknown,
  { operatorRole }: Pick<SignedInUser, 'operatorRole'>,
): boolean => provider.authTime === 'optional' && authTime === undefined && operatorRole === null;

/** Refuses an ID token without a recent `auth_time`, which the step-up asked for. */
function requireRecent({ auth_time: authTime }: Claims): void {
  const earliest = Date.now() / 1000 - RECENT_SECONDS - CLOCK_TOLERANCE_SECONDS;
  if (typeof authTime === 'number' && authTime >= earliest) return;
  const found = authTime === undefined ? 'the ID token has no auth_time' : 'auth_time is too old';
  throw new SignInRefused('authentication_not_recent', found);
}

/** Claims from the userinfo endpoint, if the ID token lacks some. */
async function userinfoOf(
  { provider, config, metadata }: ProviderClient,
  idToken: Claims,
  accessToken: string,
): Promise<Claims> {
  const { roleClaim } = provider;
  const isComplete =
    idToken.email !== undefined &&
    idToken.email_verified !== undefined &&
    idToken.name !== undefined &&
    (roleClaim === undefined || claimAt(idToken, roleClaim) !== undefined);
  if (isComplete || metadata.userinfo_endpoint === undefined) return {};
  return (await fetchUserInfo(config, accessToken, idToken.sub!)) as Claims;
}
