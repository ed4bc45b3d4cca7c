import type { JWK } from 'jose';
import { OwnKey } from './own-key.js';
import type { ProofReplays } from './replays.js';

/** How tokens that are bound to a key (RFC 9449) are accepted. */
export interface DpopOptions {
  /** Where used proofs are remembered; by default in memory, so that a proof can be used once at each process. */
  replays?: ProofReplays;
}

/** What a guard is made from. */
export interface GuardOptions {
  /** The address of the Charging Data Service, such as `https://auth.example.com`; it is also the issuer in the metadata. */
  url: string;
  /** A client with the scope `token:introspect`. */
  clientId: string;
  clientSecret: string;
  /** The identifier of the guarded service (RFC 9728): its public `https` address, without query and fragment. */
  resource: string;
  /** Its name for people, in the metadata. */
  resourceName?: string;
  /** The scopes it knows, in the metadata. */
  scopesSupported?: string[];
  /** Where developers read about it, in the metadata. */
  resourceDocumentation?: string;
  /** Whether to follow the changes to access; true by default. Without, answers are remembered for `rememberMs` at most. */
  followChanges?: boolean;
  /** How long an answer is remembered while the changes are not known: 0 to 1000, by default 1000. */
  rememberMs?: number;
  /** How many answers are remembered at most; 10,000 by default. */
  maxRemembered?: number;
  /** How long one introspection may take; 2000 by default. */
  timeoutMs?: number;
  /** Connections for introspection; 16 by default. */
  maxConnections?: number;
  /** Introspections under way or waiting at most; 1000 by default. More are refused with 503. */
  maxWaiting?: number;
  /** Allows `http` to other machines too: anyone on the network between them can then read the tokens and the secret. */
  allowHttp?: boolean;
  /** Whether to report how often whose data was served, which the users see; true by default. */
  reportDisclosures?: boolean;
  /** Whether tokens that are bound to a key are accepted with `Authorization: DPoP` and a proof; false by default. */
  dpop?: boolean | DpopOptions;
  /** A private JWK (EC P-256, Ed25519 or RSA): the guard's own tokens are bound to it, and it introspects with them. */
  dpopKey?: JWK;
  /** Is told when the service cannot be reached, or refuses this client, and when that is over. Never contains a secret. */
  onWarning?: (message: string) => void;
}

/** The options, checked and complete. */
export interface GuardSettings {
  url: string;
  clientId: string;
  clientSecret: string;
  resource: URL;
  resourceName: string | undefined;
  scopesSupported: string[] | undefined;
  resourceDocumentation: string | undefined;
  followChanges: boolean;
  rememberMs: number;
  maxRemembered: number;
  timeoutMs: number;
  maxConnections: number;
  maxWaiting: number;
  reportDisclosures: boolean;
  /** Undefined: tokens that are bound to a key are refused. */
  dpop: DpopOptions | undefined;
  ownKey: OwnKey | undefined;
  warn: (message: string) => void;
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Throws a TypeError that names the option that is wrong. */
export function settingsOf(options: GuardOptions): GuardSettings {
  const url = urlOf('url', options.url);
  if (url.protocol !== 'https:' && !LOOPBACK.test(url.hostname) && !options.allowHttp) {
    throw new TypeError('url must be https, except on loopback (or set allowHttp)');
  }
  if (url.pathname !== '/' || url.search !== '') throw new TypeError('url must be without a path');
  const resource = urlOf('resource', options.resource);
  if (resource.search !== '') throw new TypeError('resource must be without a query');
  for (const name of ['clientId', 'clientSecret'] as const) {
    if (typeof options[name] !== 'string' || options[name] === '') throw new TypeError(`${name} is required`);
  }
  return {
    url: url.origin,
    clientId: options.clientId,
    clientSecret: options.clientSecret,
    resource,
    resourceName: options.resourceName,
    scopesSupported: options.scopesSupported,
    resourceDocumentation: options.resourceDocumentation,
    followChanges: options.followChanges ?? true,
    rememberMs: between('rememberMs', options.rememberMs ?? 1_000, 0, 1_000),
    maxRemembered: between('maxRemembered', options.maxRemembered ?? 10_000, 1, 10_000_000),
    timeoutMs: between('timeoutMs', options.timeoutMs ?? 2_000, 1, 60_000),
    maxConnections: between('maxConnections', options.maxConnections ?? 16, 1, 10_000),
    maxWaiting: between('maxWaiting', options.maxWaiting ?? 1_000, 1, 1_000_000),
    reportDisclosures: options.reportDisclosures ?? true,
    dpop: options.dpop === true ? {} : options.dpop || undefined,
    ownKey: options.dpopKey && new OwnKey(options.dpopKey),
    warn: options.onWarning ?? (() => undefined),
  };
}

function urlOf(name: string, text: string): URL {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TypeError(`${name} must be a URL`);
  }
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '' || url.hash !== '') {
    throw new TypeError(`${name} must be an http or https URL without credentials and without a fragment`);
  }
  return url;
}

function between(name: string, value: number, least: number, most: number): number {
  if (Number.isFinite(value) && value >= least && value <= most) return value;
  throw new TypeError(`${name} must be ${least} to ${most}`);
}
