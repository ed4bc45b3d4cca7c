import { createHash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, SignJWT } from 'jose';
import type { AssertionChanges, ClientKey } from './client-keys.js';
import type { Answer, Http } from './http.js';
import { credentialsOf } from './oauth.js';
import type { TestClient } from './factory.js';

/** A proof of possession of the key for a request (RFC 9449), except where `changes` overrides it; undefined leaves a claim out. */
export function proofOf(
  { alg, privateKey, publicJwk: { kid: _kid, alg: _alg, ...jwk } }: ClientKey,
  method: string,
  url: string,
  { claims = {}, header = {} }: AssertionChanges = {},
  token?: string,
): Promise<string> {
  const all = {
    ...{ htm: method, htu: url, iat: Math.floor(Date.now() / 1000), jti: randomUUID() },
    ...(token === undefined ? {} : { ath: createHash('sha256').update(token).digest('base64url') }),
    ...claims,
  };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(given).setProtectedHeader({ alg, typ: 'dpop+jwt', jwk, ...header }).sign(privateKey);
}

/** The thumbprint of a key (RFC 7638). */
export const thumbprintOf = ({ publicJwk }: ClientKey): Promise<string> => calculateJwkThumbprint(publicJwk);

/** A token request with a proof of this key, or without one. */
export async function tokenWith(
  http: Http,
  key: ClientKey | undefined,
  form: Record<string, string | undefined>,
): Promise<Answer> {
  const dpop = key && (await proofOf(key, 'POST', `${http.url}/o/token`));
  return http.send('/o/token', { form, headers: dpop === undefined ? {} : { dpop } });
}

/** A client-credentials token of the client, bound to this key. */
export async function boundToken(http: Http, client: TestClient, key: ClientKey): Promise<string> {
  const form = { grant_type: 'client_credentials', ...credentialsOf(client) };
  const answer = await tokenWith(http, key, form);
  if (answer.status !== 200) throw new Error(`no token: ${answer.status} ${answer.text}`);
  return answer.json.access_token as string;
}

/** A request with a bound token and a proof of this key, unless another proof is given. */
export async function withBound(
  http: Http,
  token: string,
  key: ClientKey,
  {
    method = 'GET',
    path = '/v2/users',
    changes,
    proof,
    form,
  }: {
    method?: string;
    path?: string;
    changes?: AssertionChanges;
    proof?: string;
    form?: Record<string, string>;
  } = {},
): Promise<Answer> {
  const url = `${http.url}${path.split('?')[0]!}`;
  const dpop = proof ?? (await proofOf(key, method, url, changes, token));
  return http.send(path, { method, form, headers: { authorization: `DPoP ${token}`, dpop } });
}
