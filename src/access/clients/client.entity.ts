import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Environment } from '#access/users/accounts/environment.js';
import { TextOrNull, InRealm } from '#platform/database/entities/columns.js';
import type { JwkSet } from './keys/jwk-set.js';

export const CLIENT_TYPES = ['confidential', 'public'] as const;
export type ClientType = (typeof CLIENT_TYPES)[number];
export const GRANT_TYPES = ['authorization_code', 'client_credentials', 'refresh_token'] as const;
export type GrantType = (typeof GRANT_TYPES)[number];
/** How a client authenticates (RFC 7591 §2). */
export const AUTH_METHODS = ['client_secret_basic', 'private_key_jwt', 'none'] as const;
export type AuthMethod = (typeof AUTH_METHODS)[number];

/** Sets of rules that a client can be held to: the FAPI 2.0 Security Profile. */
export const SECURITY_PROFILES = ['fapi_2'] as const;
export type SecurityProfile = (typeof SECURITY_PROFILES)[number];

/** An OAuth client (contract §2); its id is the `client_id`. */
@Entity('clients')
export class ClientEntity extends InRealm {
  @PrimaryColumn('text')
  id!: string;

  @Column('text')
  name!: string;

  /** For operators. */
  @Column('text', { default: '' })
  description!: string;

  /** Shown to users with its name: a page about it, its privacy policy, and the organisation that runs it. */
  @TextOrNull()
  site!: string | null;

  @TextOrNull()
  privacyPolicy!: string | null;

  @TextOrNull()
  organisation!: string | null;

  @TextOrNull()
  logoId!: string | null;

  @Column('text')
  type!: ClientType;

  @Column('text', { array: true })
  grantTypes!: GrantType[];

  @Column('text', { array: true })
  scopes!: string[];

  /** The scopes that a user may decline. */
  @Column('text', { array: true, default: '{}' })
  optionalScopes!: string[];

  /** What it wants the data for: names of the catalogue of purposes. */
  @Column('text', { array: true, default: '{}' })
  purposes!: string[];

  /** After how many days a consent to it ends; null for the default of the service. */
  @Column('integer', { nullable: true })
  consentExpiryDays!: number | null;

  @Column('text', { array: true })
  redirectUris!: string[];

  @Column('text')
  ownerId!: string;

  @Column('boolean')
  enabled!: boolean;

  /** Requests per hour; null for the default of the service. */
  @Column('integer', { nullable: true })
  rateLimit!: number | null;

  /** Has operator scopes without an operator as its owner: an admin has marked it as a service of the company (contract §17). */
  @Column('boolean', { default: false })
  companyService!: boolean;

  /** Designated under the Digital Markets Act: users cannot share data with it (Data Act, Article 5(3)). */
  @Column('boolean', { default: false })
  gatekeeper!: boolean;

  /** Null: a secret, and nothing for a public client ({@link authMethodOf}). */
  @TextOrNull()
  tokenEndpointAuthMethod!: AuthMethod | null;

  /** Its public keys, or where they are. */
  @Column('jsonb', { nullable: true })
  jwks!: JwkSet | null;

  @TextOrNull()
  jwksUri!: string | null;

  /** Whether its authorization requests must have a `code_challenge`; those of public clients always must. */
  @Column('boolean', { default: false })
  requirePkce!: boolean;

  /** Whether it must push its authorization requests (RFC 9126). */
  @Column('boolean', { default: false })
  requirePushedAuthorizationRequests!: boolean;

  /** Whether its access tokens must be bound to a key (RFC 9449). */
  @Column('boolean', { default: false })
  dpopBoundAccessTokens!: boolean;

  /** What it has to keep to. */
  @TextOrNull()
  securityProfile!: SecurityProfile | null;

  /** In seconds; null for that of the service. */
  @Column('integer', { nullable: true })
  accessTokenLifetime!: number | null;

  /** What it stands for when it introspects (RFC 8707); empty for this service. */
  @Column('text', { array: true, default: '{}' })
  resourceIndicators!: string[];

  /** Fixed when it is created. */
  @Column({ type: 'text', update: false })
  environment!: Environment;
}

/** How the client authenticates. */
export const authMethodOf = ({
  type,
  tokenEndpointAuthMethod,
}: Pick<ClientEntity, 'type' | 'tokenEndpointAuthMethod'>): AuthMethod =>
  tokenEndpointAuthMethod ?? (type === 'public' ? 'none' : 'client_secret_basic');

/** Whether the client authenticates with keys, so that it has no secret. */
export const usesKeys = ({
  tokenEndpointAuthMethod,
}: Pick<ClientEntity, 'tokenEndpointAuthMethod'>): boolean => tokenEndpointAuthMethod === 'private_key_jwt';
