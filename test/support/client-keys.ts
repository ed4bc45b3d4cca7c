import { randomUUID } from 'node:crypto';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK } from 'jose';
import type { NewClient } from '#access/clients/client.resource.js';
import type { TestClient } from './factory.js';
import type { TestService } from './test-service.js';

/** A key pair of a client. */
export interface ClientKey {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  publicJwk: JWK;
  privateJwk: JWK;
}

/** A new key pair for an algorithm of signatures. */
export async function newKey(alg = 'ES256', options: { modulusLength?: number } = {}): Promise<ClientKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true, ...options });
  const kid = randomUUID();
  const named = async (key: CryptoKey) => ({ ...(await exportJWK(key)), kid, alg });
  return { kid, alg, privateKey, publicJwk: await named(publicKey), privateJwk: await named(privateKey) };
}

/** A client that authenticates with these keys. */
export const clientWithKeys = (
  service: Pick<TestService, 'make'>,
  keys: ClientKey[],
  input: Partial<NewClient> = {},
): Promise<TestClient> =>
  service.make.client({
    tokenEndpointAuthMethod: 'private_key_jwt',
    ...(input.jwksUri ? {} : { jwks: { keys: keys.map(({ publicJwk }) => publicJwk as never) } }),
    ...input,
  });

/** What an assertion claims, and its header, unless overridden; undefined leaves a claim out. */
export interface AssertionChanges {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
}

/** An assertion of the client for this issuer. */
export function assertionOf(
  { kid, alg, privateKey }: ClientKey,
  clientId: string,
  issuer: string,
  { claims = {}, header = {} }: AssertionChanges = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const all = {
    ...{ iss: clientId, sub: clientId, aud: issuer, iat: now, exp: now + 60, jti: randomUUID() },
    ...claims,
  };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return new SignJWT(given).setProtectedHeader({ alg, kid, ...header }).sign(privateKey);
}

/** The parameters with which a client authenticates by an assertion. */
export const byAssertion = (assertion: string) => ({
  client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
  client_assertion: assertion,
});
