import { Injectable, Logger } from '@nestjs/common';
import { createRemoteJWKSet, customFetch as joseFetch } from 'jose';
import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  customFetch,
  discovery,
  type ClientAuth,
  type ServerMetadata,
} from 'openid-client';
import type { IdentityProvider } from '../../config/identity-providers.js';
import { Settings } from '../../config/settings.js';
import { notFound } from '../../http/problems/problem.js';
import { SignInRefused } from '../refusals.js';
import { ASYMMETRIC_ALGORITHMS } from './algorithms.js';
import { providerFetch } from './provider-fetch.js';
import { refusalOfError } from './refusal-of-error.js';

const KNOWN_FOR_MS = 60 * 60_000;
// A page does not ask a provider again that was just unreachable; a person who wants to log in does.
const ASKED_AGAIN_AFTER_MS = 30_000;
// Anybody can send logout tokens, so an unknown key makes only one request to the provider in this time.
export const KEYS_AGAIN_AFTER_MS = 30_000;

export type Keys = ReturnType<typeof createRemoteJWKSet>;

/** This service as a client of one provider, as discovered there. */
export interface ProviderClient {
  provider: IdentityProvider;
  config: Configuration;
  metadata: Readonly<ServerMetadata>;
  /** Reads the provider's keys again at once if one is unknown. */
  keys: Keys;
  /** The same, but not more often than every 30 s. */
  keysForLogoutTokens: Keys;
}

/** What this service knows of each provider: discovered at the first use, again after an hour, and again after a failure. */
@Injectable()
export class ProviderClients {
  private readonly logger = new Logger(ProviderClients.name);
  private readonly known = new Map<string, { client: ProviderClient; until: number }>();
  private readonly asked = new Map<string, Promise<ProviderClient>>();
  private readonly failed = new Map<string, number>();

  constructor(private readonly settings: Settings) {}

  get providers(): readonly IdentityProvider[] {
    return this.settings.identityProviders;
  }

  find(id: string): IdentityProvider | undefined {
    return this.providers.find((provider) => provider.id === id);
  }

  /** The provider with this id; throws a 404 problem. */
  get(id: string): IdentityProvider {
    const provider = this.find(id);
    if (!provider) throw notFound('There is no such identity provider.');
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
    const known = this.known.get(provider.id);
    if (known) known.until = 0;
  }

  /** The origins of the provider that a form may lead to. If it was not discovered yet, that begins, and its issuer has to do. */
  formTargets(provider: IdentityProvider): string[] {
    const metadata = this.known.get(provider.id)?.client.metadata;
    if (!metadata && (this.failed.get(provider.id) ?? 0) < Date.now() - ASKED_AGAIN_AFTER_MS) {
      this.of(provider).catch((error: unknown) =>
        this.logger.warn(`${provider.id}: ${(error as Error).message}`),
      );
    }
    const urls = [provider.issuer.href, metadata?.authorization_endpoint, metadata?.end_session_endpoint];
    return [...new Set(urls.filter((url) => url !== undefined).map((url) => new URL(url).origin))];
  }

  private async ask(provider: IdentityProvider): Promise<ProviderClient> {
    try {
      const client = await discover(provider);
      this.known.set(provider.id, { client, until: Date.now() + KNOWN_FOR_MS });
      return client;
    } catch (error) {
      this.failed.set(provider.id, Date.now());
      throw refusalOfError(error);
    }
  }
}

async function discover(provider: IdentityProvider): Promise<ProviderClient> {
  const { issuer, clientId, clientSecret } = provider;
  const fetch = providerFetch(issuer);
  const auth = secretOf(clientSecret);
  const found = await discovery(issuer, clientId, undefined, auth, {
    [customFetch]: fetch,
    execute: issuer.protocol === 'http:' ? [allowInsecureRequests] : [],
  });
  const metadata: Readonly<ServerMetadata> = found.serverMetadata();
  // The library lets some hosts name another issuer.
  if (new URL(metadata.issuer).href !== issuer.href) {
    throw new SignInRefused('provider_answer_invalid', 'the metadata names another issuer');
  }
  if (!metadata.jwks_uri || !metadata.authorization_endpoint || !metadata.token_endpoint) {
    throw new SignInRefused('provider_answer_invalid', 'the metadata is incomplete');
  }
  const keys = (cooldownDuration: number) =>
    createRemoteJWKSet(new URL(metadata.jwks_uri!), { [joseFetch]: fetch, cooldownDuration });
  // With its keys a provider may change the algorithm, an hour before this is read again: a key of its own decides what is accepted.
  const server: ServerMetadata = {
    ...metadata,
    id_token_signing_alg_values_supported: ASYMMETRIC_ALGORITHMS,
  };
  const config = new Configuration(server, clientId, undefined, auth);
  config[customFetch] = fetch;
  if (issuer.protocol === 'http:') allowInsecureRequests(config);
  return { provider, config, metadata, keys: keys(0), keysForLogoutTokens: keys(KEYS_AGAIN_AFTER_MS) };
}

/** Sends the secret in the way that the provider supports; without a word from it, Basic. */
const secretOf =
  (secret: string): ClientAuth =>
  (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported;
    const isBasic = methods === undefined || methods.includes('client_secret_basic');
    return (isBasic ? ClientSecretBasic : ClientSecretPost)(secret)(server, ...rest);
  };
