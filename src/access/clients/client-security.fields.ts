import type { ApiPropertyOptions } from '@nestjs/swagger';
import { flag, oneOf, orNull, text, whole } from '#platform/http/api/api-schemas.js';
import { NULL_IF_OMITTED, type Fields } from '#platform/http/resources/resource.js';
import {
  IsJsonObject,
  IsOneOf,
  IsText,
  IsTrueOrFalse,
  IsWholeNumber,
} from '#platform/http/validation/validation.decorators.js';
import { AUTH_METHODS, SECURITY_PROFILES, type ClientEntity } from './client.entity.js';
import { ACCESS_TOKEN_LIFETIME } from './client-rules.js';
import { JWK_SET_SCHEMA } from './keys/jwk-set.js';

const KEY_ADDRESS_MAX = 2048;

/** The fields of a client that say how it authenticates, and what its requests and tokens have to prove (contract §2). */
export const CLIENT_SECURITY = {
  tokenEndpointAuthMethod: {
    wire: 'token_endpoint_auth_method',
    view: oneOf(...AUTH_METHODS),
    rule: IsOneOf(...AUTH_METHODS),
    about:
      'How it authenticates (RFC 7591). Null: with a secret, and a public client not at all. With `private_key_jwt` it has keys and no secret: its secrets end, and going back makes a new one.',
    ...NULL_IF_OMITTED,
    changeable: true,
    audited: true,
    form: {
      as: 'select',
      label: 'Authentication',
      hint: 'With keys it has no secret: its secrets end at once. Going back to a secret makes a new one.',
      options: [
        { value: '', label: 'As its type says: with a secret, or not at all' },
        { value: 'client_secret_basic', label: 'With a secret' },
        { value: 'private_key_jwt', label: 'With keys: it signs assertions' },
        { value: 'none', label: 'Not at all: a public client' },
      ],
    },
  },
  jwks: {
    view: { ...JWK_SET_SCHEMA, nullable: true } as ApiPropertyOptions,
    rule: IsJsonObject(),
    about:
      'Its public keys as a JWK Set (RFC 7517): EC P-256, Ed25519, or RSA of at least 2048 bits. Not together with `jwks_uri`.',
    ...NULL_IF_OMITTED,
    changeable: true,
    audited: true,
    form: {
      as: 'json',
      label: 'Public keys',
      hint: 'A JWK Set: {"keys": […]}, with two keys or more while one replaces another. Or enter where they are, below.',
    },
  },
  jwksUri: {
    wire: 'jwks_uri',
    view: orNull(text('Where its public keys are.', { example: 'https://planner.example.com/jwks.json' })),
    rule: IsText(1, KEY_ADDRESS_MAX),
    about: 'Where its public keys are, instead of `jwks`: https, on the public internet.',
    ...NULL_IF_OMITTED,
    changeable: true,
    audited: true,
    form: {
      as: 'lineOrNone',
      label: 'Address of the public keys',
      hint: 'It begins with https:// and answers with a JWK Set. Instead of the keys above.',
    },
  },
  requirePkce: {
    wire: 'require_pkce',
    view: flag(
      'Whether its authorization requests must have a `code_challenge`; those of public clients must.',
    ),
    rule: IsTrueOrFalse(),
    about: 'Its authorization requests must have a `code_challenge`. Those of public clients always must.',
    given: 'optional',
    initial: false,
    changeable: true,
    audited: true,
    form: { as: 'tick', label: 'PKCE required: authorization requests must have a code_challenge' },
  },
  requirePushedAuthorizationRequests: {
    wire: 'require_pushed_authorization_requests',
    view: flag('Whether it must push its authorization requests (RFC 9126).'),
    rule: IsTrueOrFalse(),
    about: 'It must push its authorization requests (RFC 9126).',
    given: 'optional',
    initial: false,
    changeable: true,
    audited: true,
    form: { as: 'tick', label: 'Pushed authorization requests required (RFC 9126)' },
  },
  dpopBoundAccessTokens: {
    wire: 'dpop_bound_access_tokens',
    view: flag('Whether its access tokens must be bound to a key (RFC 9449).'),
    rule: IsTrueOrFalse(),
    about: 'Its token requests must have a DPoP proof (RFC 9449).',
    given: 'optional',
    initial: false,
    changeable: true,
    audited: true,
    form: { as: 'tick', label: 'DPoP required: access tokens are bound to a key (RFC 9449)' },
  },
  securityProfile: {
    wire: 'security_profile',
    view: orNull(oneOf(...SECURITY_PROFILES)),
    rule: IsOneOf(...SECURITY_PROFILES),
    about:
      'Null, or `fapi_2` (FAPI 2.0 Security Profile): confidential, with `private_key_jwt`, PKCE, pushed requests and DPoP, none of which can then be taken away. Null leaves them as they are.',
    ...NULL_IF_OMITTED,
    changeable: true,
    audited: true,
    form: {
      as: 'select',
      label: 'Security profile',
      hint: 'It requires keys and the three switches above.',
      options: [
        { value: '', label: 'None' },
        { value: 'fapi_2', label: 'FAPI 2.0 Security Profile' },
      ],
    },
  },
  accessTokenLifetime: {
    wire: 'access_token_lifetime',
    view: orNull(whole('Seconds that its access tokens live; null: as the service says.')),
    rule: IsWholeNumber(ACCESS_TOKEN_LIFETIME.min, ACCESS_TOKEN_LIFETIME.max, 'or null'),
    about: 'Seconds that its access tokens live; null for the default of the service.',
    ...NULL_IF_OMITTED,
    changeable: true,
    audited: true,
    form: {
      as: 'number',
      label: 'Seconds that an access token lives',
      hint: 'For new tokens. Leave empty for the service default.',
    },
  },
} as const satisfies Partial<Fields<ClientEntity>>;
