import type { Agent } from 'node:http';
import { basicCredentials, exchange } from './http-exchange.js';
import type { GuardSettings } from './options.js';

const SCOPE = 'token:introspect';

/** A new token of the guard's own client; throws an Error that says what it was for. */
export async function ownToken(settings: GuardSettings, agent: Agent, purpose: string): Promise<string> {
  const { url, clientId, clientSecret, timeoutMs } = settings;
  const { status, body } = await exchange({
    agent,
    url: `${url}/o/token`,
    headers: { authorization: basicCredentials(clientId, clientSecret), accept: 'application/json' },
    form: new URLSearchParams({ grant_type: 'client_credentials', scope: SCOPE }),
    timeoutMs,
  });
  if (status !== 200) throw new Error(`a token for ${purpose} was answered with ${status}`);
  const { access_token: token } = JSON.parse(body) as { access_token?: unknown };
  if (typeof token !== 'string') throw new Error('the answer of the token endpoint has no token');
  return token;
}
