import type { ServerMetadata } from 'openid-client';
import { isUrl } from '../../config/is-url.js';
import { isLoopbackHost } from '../../config/loopback.js';
import { SignInRefused } from '../refusals.js';

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
  // The library accepts another issuer from some hosts.
  if (!isUrl(metadata.issuer) || new URL(metadata.issuer).href !== issuer.href) {
    refuse('the metadata name another issuer');
  }
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

function refuse(message: string): never {
  throw new SignInRefused('provider_answer_invalid', message);
}
