import { importPKCS8 } from 'jose';
import { ClientSecretPost, modifyAssertion, PrivateKeyJwt, type ClientAuth } from 'openid-client';
import type { IdentityProvider } from '#platform/config/identity-providers.js';
import type { ProviderKey } from '#platform/config/provider-key.js';

/** How this service authenticates at the provider's token endpoint: as configured, otherwise as the provider's metadata say. */
export async function authenticationAt(provider: IdentityProvider): Promise<ClientAuth> {
  const { tokenEndpointAuthMethod: method, clientSecret: secret, privateKey } = provider;
  if (privateKey) return byPrivateKey(privateKey, provider.assertionAudience);
  if (method === 'client_secret_post') return ClientSecretPost(secret);
  if (method === 'client_secret_basic') return byBasic(secret!);
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported;
    // If the provider does not say, Basic (OpenID Connect Discovery §3).
    const isBasic = methods === undefined || methods.includes('client_secret_basic');
    return (isBasic ? byBasic(secret!) : ClientSecretPost(secret))(server, ...rest);
  };
}

/**
 * RFC 6749 §2.3.1, as most providers read it: form encoding leaves `-`, `.` and `_` as they are. The library escapes them too,
 * and a provider that does not decode unneeded escapes would see another secret.
 */
const byBasic =
  (secret: string): ClientAuth =>
  (_server, client, _body, headers) => {
    const credentials = `${formEncoded(client.client_id)}:${formEncoded(secret)}`;
    headers.set('authorization', `Basic ${Buffer.from(credentials).toString('base64')}`);
  };

const formEncoded = (text: string): string => new URLSearchParams({ '': text }).toString().slice(1);

/** RFC 7523, for the issuer; providers that still want the older audience get the token endpoint. */
async function byPrivateKey(
  { key, algorithm, id }: ProviderKey,
  audience: IdentityProvider['assertionAudience'],
): Promise<ClientAuth> {
  const imported = await importPKCS8(key.export({ type: 'pkcs8', format: 'pem' }) as string, algorithm);
  return (server, ...rest) => {
    const assertion = PrivateKeyJwt(
      { key: imported, kid: id },
      {
        [modifyAssertion]: (header, payload) => {
          // The library uses the newer name of Ed25519, which fewer providers support.
          header.alg = algorithm;
          if (audience === 'token_endpoint') payload.aud = server.token_endpoint;
        },
      },
    );
    return assertion(server, ...rest);
  };
}
