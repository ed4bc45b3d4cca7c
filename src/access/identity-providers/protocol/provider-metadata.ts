import type { ServerMetadata } from 'openid-client';
import { isUrl, isLoopbackHost } from '#platform/config/is-url.js';
import { SignInRefused } from '../refusals.js';

/** Only signatures with a private key of the provider: neither `none` nor a shared secret. */
export const ASYMMETRIC_ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];

/** How far the clocks of a provider and this service may differ. */
export const CLOCK_TOLERANCE_SECONDS = 30;

/** What this service uses of a provider's metadata, checked. */
export type ProviderMetadata = Readonly<ServerMetadata> & {
  authorization_endpoint: string;
  token_endpoint: string;
  jwks_uri: string;
};

const REQUIRED = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'];
const OPTIONAL = ['userinfo_endpoint', 'end_session_endpoint'];

/** The metadata, with everything that is used later checked; throws a `SignInRefused`. */
export function checkedMetadata(metadata: Readonly<ServerMetadata>, issuer: URL): ProviderMetadata {
  requireIssuer(metadata.issuer, issuer);
  for (const name of REQUIRED) {
    if (!isAllowedUrl(metadata[name], issuer)) refuse(`the metadata have no usable ${name}`);
  }
  for (const name of OPTIONAL) {
    if (metadata[name] !== undefined && !isAllowedUrl(metadata[name], issuer)) {
      refuse(`the metadata have a wrong ${name}`);
    }
  }
  const methods: unknown = metadata.token_endpoint_auth_methods_supported;
  if (methods !== undefined && !Array.isArray(methods)) {
    refuse('the metadata have wrong token_endpoint_auth_methods_supported');
  }
  return metadata as ProviderMetadata;
}

/**
 * Whether this service may call this URL, or redirect a browser to it: https, or http on loopback for an issuer that is on
 * loopback itself.
 */
export function isAllowedUrl(value: unknown, issuer: URL): boolean {
  if (typeof value !== 'string' || !isUrl(value)) return false;
  const { protocol, hostname } = new URL(value);
  return (
    protocol === 'https:' || (protocol === 'http:' && issuer.protocol === 'http:' && isLoopbackHost(hostname))
  );
}

/** Throws a `SignInRefused` for another issuer than that of the settings, also if the library accepts it, as from some hosts. */
export function requireIssuer(named: unknown, issuer: URL): void {
  // As Microsoft Entra ID does for `common` and `organizations`.
  if (typeof named === 'string' && /[{}]/.test(named)) {
    refuse(
      'the metadata name a template of issuers with a placeholder: issuer in IDENTITY_PROVIDERS must be the address of one tenant',
    );
  }
  if (typeof named !== 'string' || !isUrl(named) || new URL(named).href !== issuer.href) {
    refuse('the metadata name another issuer: write issuer in IDENTITY_PROVIDERS as they do');
  }
}

function refuse(message: string): never {
  throw new SignInRefused('provider_metadata_invalid', message);
}
