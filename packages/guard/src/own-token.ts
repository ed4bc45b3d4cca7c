import type { Agent } from 'node:http';
import { basicCredentials, exchange, type ServiceAnswer, type ServiceRequest } from './http-exchange.js';
import type { GuardSettings } from './options.js';

const SCOPE = 'token:introspect';

/** A new token of the guard's own client; throws an Error that says what it was for. */
export async function ownToken(settings: GuardSettings, agent: Agent, purpose: string): Promise<string> {
  const { url, clientId, clientSecret, timeoutMs, ownKey } = settings;
  const authorization = basicCredentials(clientId, clientSecret);
  const { status, body } = await exchangeProven(settings, undefined, {
    agent,
    url: `${url}/o/token`,
    headers: { authorization, accept: 'application/json' },
    form: new URLSearchParams({ grant_type: 'client_credentials', scope: SCOPE }),
    timeoutMs,
  });
  if (status !== 200) throw new Error(`a token for ${purpose} was answered with ${status}`);
  const { access_token: token, token_type: type } = JSON.parse(body) as Record<string, unknown>;
  if (typeof token !== 'string') throw new Error('the answer of the token endpoint has no token');
  if (ownKey && String(type).toLowerCase() !== 'dpop')
    throw new Error('the service does not bind tokens to a key (DPoP): leave dpopKey out');
  return token;
}

/** The headers of a request with the guard's own token. */
export async function ownHeaders(
  { ownKey }: GuardSettings,
  token: string | undefined,
  method: string,
  url: string,
): Promise<Record<string, string>> {
  const headers: Record<string, string> = {};
  if (token !== undefined) headers.authorization = `${ownKey ? 'DPoP' : 'Bearer'} ${token}`;
  if (ownKey) headers.dpop = await ownKey.proof(method, url, token);
  return headers;
}

/** Posts with the guard's own token, if one is given, and a proof: once more if the service wants another nonce (RFC 9449 §8). */
export async function exchangeProven(
  settings: GuardSettings,
  token: string | undefined,
  request: ServiceRequest,
): Promise<ServiceAnswer> {
  const once = async () => {
    const own = await ownHeaders(settings, token, 'POST', request.url);
    return exchange({ ...request, headers: { ...request.headers, ...own } });
  };
  const asked = settings.ownKey?.nonce;
  const answer = await once();
  const isRefused = answer.status === 400 || answer.status === 401;
  return settings.ownKey?.take(answer.headers, asked) && isRefused ? once() : answer;
}
