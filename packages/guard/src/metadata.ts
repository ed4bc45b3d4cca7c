import type { GuardSettings } from './options.js';

/** Of proofs, as in the service's metadata. */
export const PROOF_ALGORITHMS = ['PS256', 'ES256', 'EdDSA'];

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** The path of a resource's metadata (RFC 9728 §3.1): the well-known part stands before its own path. */
export const metadataPathOf = ({ pathname }: URL): string => WELL_KNOWN + (pathname === '/' ? '' : pathname);

export const metadataUrlOf = (resource: URL): string => resource.origin + metadataPathOf(resource);

/** The metadata of a guarded service (RFC 9728 §2). */
export function metadataOf(settings: GuardSettings): Record<string, unknown> {
  const { resource, url, scopesSupported, resourceName, resourceDocumentation } = settings;
  return {
    resource: resource.pathname === '/' ? resource.origin : resource.href,
    authorization_servers: [url],
    bearer_methods_supported: ['header'],
    ...(settings.dpop ? { dpop_signing_alg_values_supported: PROOF_ALGORITHMS } : {}),
    ...(scopesSupported ? { scopes_supported: scopesSupported } : {}),
    ...(resourceName === undefined ? {} : { resource_name: resourceName }),
    ...(resourceDocumentation === undefined ? {} : { resource_documentation: resourceDocumentation }),
  };
}
