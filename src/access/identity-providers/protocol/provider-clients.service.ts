import { Injectable } from '@nestjs/common';
import { createRemoteJWKSet, customFetch as joseFetch, importPKCS8 } from 'jose';
import {
  allowInsecureRequests,
  Configuration,
  customFetch,
  discovery,
  type ServerMetadata,
  ClientSecretPost,
  modifyAssertion,
  PrivateKeyJwt,
  type ClientAuth,
} from 'openid-client';
import type { IdentityProvider } from '#platform/config/identity-providers.js';
import { Settings } from '#platform/config/settings.js';
import { notFound } from '#platform/http/problems/problem.js';
import { SignInRefused } from '../refusals.js';
import { providerFetch } from './provider-fetch.js';
import {
  checkedMetadata,
  requireIssuer,
  type ProviderMetadata,
  ASYMMETRIC_ALGORITHMS,
} from './provider-metadata.js';
import { issuerNamedIn, refusalOfError } from './refusal-of-error.js';
import { say } from '#platform/language/text.js';
import type { ProviderKey } from '#platform/config/provider-key.js';

const KNOWN_FOR_MS = 60 * 60_000;
// Anybody can send logout tokens, so an unknown key makes only one request to the provider in this time.
export const KEYS_AGAIN_AFTER_MS = 30_000;

export type Keys = ReturnType<typeof createRemoteJWKSet>;

/** The OpenID Connect client for one provider, built from its discovery document. */
export interface ProviderClient {
  provider: IdentityProvider;
  config: Configuration;
  metadata: ProviderMetadata;
  /** Fetches the provider's keys again at once if a key is unknown. */
  keys: Keys;
  /** The same, but not more often than every 30 s. */
  keysForLogoutTokens: Keys;
}

/**
 * The configured providers, and the OpenID Connect client for each: discovered at the first use, again after an hour, and after a
 * failure.
 */
@Injectable()
export class ProviderClients {
  private readonly known = new Map<string, { client: ProviderClient; until: number }>();
  private readonly asked = new Map<string, Promise<ProviderClient>>();

  constructor(private readonly settings: Settings) {}

  get providers(): readonly IdentityProvider[] {
    return this.settings.identityProviders;
  }

  find(id: string): IdentityProvider | undefined {
    return this.providers.find((provider) => provider.id === id);
  }

  /** All entries for the provider with this issuer: it may be in the settings more than once, for different people. */
  ofIssuer(issuer: string): IdentityProvider[] {
    const { href } = new URL(issuer);
    return this.providers.filter((provider) => provider.issuer.href === href);
  }

  /** Whether a link was made through this entry, or through one of the same provider that is no longer in the settings. */
  isOf(provider: IdentityProvider, link: { provider: string; issuer: string }): boolean {
    if (link.provider === provider.id) return true;
    return !this.find(link.provider) && this.ofIssuer(link.issuer).includes(provider);
  }

  /** The entries that know a linked person by this subject: that of the link first, and others for the same client at the provider. */
  ofLink({ provider, issuer }: { provider: string; issuer: string }): IdentityProvider[] {
    const own = this.find(provider);
    if (!own) return this.ofIssuer(issuer);
    const others = this.ofIssuer(own.issuer.href).filter(({ clientId }) => clientId === own.clientId);
    return [own, ...others.filter((each) => each !== own)];
  }

  /** The provider with this id; throws a 404 problem. */
  get(id: string): IdentityProvider {
    const provider = this.find(id);
    if (!provider) throw notFound(say('There is no such identity provider.'));
    return provider;
  }

  /** The client, discovered if necessary; simultaneous callers share one discovery. Throws a `SignInRefused`. */
  async of(provider: IdentityProvider): Promise<ProviderClient> {
    const known = this.known.get(provider.id);
    if (known && known.until > Date.now()) return known.client;
    const asked = this.asked.get(provider.id) ?? this.ask(provider);
    this.asked.set(provider.id, asked);
    try {
      return await asked;
    } finally {
      this.asked.delete(provider.id);
    }
  }

  /** Discovers the provider again at the next use: after a failure its addresses or keys may be out of date. */
  forget(provider: IdentityProvider): void {
    this.known.delete(provider.id);
  }

  private async ask(provider: IdentityProvider): Promise<ProviderClient> {
    try {
      const client = await discover(provider);
      this.known.set(provider.id, { client, until: Date.now() + KNOWN_FOR_MS });
      return client;
    } catch (error) {
      throw refusalOfDiscovery(error, provider);
    }
  }
}

/** Nothing in the metadata depends on who logs in: what is wrong there is not the fault of a login. */
function refusalOfDiscovery(error: unknown, { issuer }: IdentityProvider): SignInRefused {
  const refusal = refusalOfError(error);
  if (refusal.reason !== 'provider_answer_invalid') return refusal;
  const named = issuerNamedIn(error);
  if (named !== undefined) {
    try {
      requireIssuer(named, issuer);
    } catch (wrong) {
      return wrong as SignInRefused;
    }
  }
  return new SignInRefused('provider_metadata_invalid', refusal.message, { cause: error });
}

async function discover(provider: IdentityProvider): Promise<ProviderClient> {
  const { issuer, clientId } = provider;
  const fetch = providerFetch(issuer);
  const auth = await authenticationAt(provider);
  const found = await discovery(issuer, clientId, undefined, auth, {
    [customFetch]: fetch,
    execute: issuer.protocol === 'http:' ? [allowInsecureRequests] : [],
  });
  // Checked before it is cached, so that nothing fails on it later.
  const metadata = checkedMetadata(found.serverMetadata(), issuer);
  const keys = (cooldownDuration: number) =>
    createRemoteJWKSet(new URL(metadata.jwks_uri), { [joseFetch]: fetch, cooldownDuration });
  // A provider may change the algorithm together with its keys, up to an hour before the metadata are read again, so every
  // asymmetric algorithm is accepted: the key decides.
  const server: ServerMetadata = {
    ...metadata,
    id_token_signing_alg_values_supported: ASYMMETRIC_ALGORITHMS,
  };
  const config = new Configuration(server, clientId, undefined, auth);
  config[customFetch] = fetch;
  if (issuer.protocol === 'http:') allowInsecureRequests(config);
  return { provider, config, metadata, keys: keys(0), keysForLogoutTokens: keys(KEYS_AGAIN_AFTER_MS) };
}

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
