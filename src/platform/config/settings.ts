import path from 'node:path';
import { PLAIN_BRAND, type BrandValues } from './brand-values.js';
import { encryptionKeyOf } from './encryption-key-file.js';
import { readEnvironment, settingsRefused, type ProcessEnvironment } from './process-environment.js';
import { parseIdentityProviders, type IdentityProvider } from './identity-providers.js';
import { isLoopbackHost } from './is-url.js';
import type { OtlpProtocol } from './otlp-protocol.js';
import { parseEncryptionKey, splitList } from './setting-constraints.js';

/** The first operator, created if it does not exist: a user and, if configured, a confidential client. */
export interface BootstrapOperator {
  email: string;
  password: string;
  client?: { id: string; secret: string };
}

/** All settings in the form that the code uses: lifetimes in seconds, the base URL without a trailing slash. */
export class Settings {
  production!: boolean;
  /** Without a database URL, and not in production, the service is a complete demonstration. */
  demonstration!: boolean;
  /** What this instance does: answer requests (`api`), work on what waits in the database (`worker`), or both. */
  role!: 'all' | 'api' | 'worker';
  port!: number;
  host!: string;
  baseUrl!: string;
  databaseUrl?: string;
  databasePoolSize!: number;
  /** Seconds that a start waits for a database that does not respond yet. */
  databaseWait!: number;
  /** If false, `operator migrate` runs the migrations, and a start waits for them. */
  migrateOnStart!: boolean;
  /** Seconds that a start or a migration waits for another one. */
  migrationWait!: number;
  dataDir!: string;
  /** The first one encrypts, all of them decrypt. */
  encryptionKeys!: Buffer[];
  bootstrapOperator?: BootstrapOperator;
  accessTokenTtl!: number;
  authorizationCodeTtl!: number;
  portalLinkTtl!: number;
  portalSessionTtl!: number;
  refreshTokenTtl!: number;
  grantTtl!: number;
  refreshGrace!: number;
  /** How long a consent holds, in days; null for as long as the user wants. A client can have its own. */
  consentExpiryDays!: number | null;
  /** How many days before its end the user and the client are told. */
  consentNoticeDays!: number;
  sessionTtl!: number;
  /** An operator's session ends earlier: this long after the login, or after it was last used. */
  operatorSessionTtl!: number;
  operatorSessionIdle!: number;
  retentionDays!: number;
  /** How long people can keep an account after all whose deletion they asked for; 0: it is deleted at once. */
  accountDeletionDays!: number;
  /** Requests per hour, per client and user; a client can have its own limit. */
  rateLimit!: number;
  /** Requests per minute to `/o/*`, per client. */
  oauthRateLimit!: number;
  /** Requests per minute with a session, per account. */
  sessionRateLimit!: number;
  /** Seconds to wait before each further attempt of a delivery. */
  webhookRetrySchedule!: number[];
  /** How many attempts are under way at a time; slow ones make room for more. */
  webhookConcurrency!: number;
  /** Also allow webhooks to `http` and internal addresses. */
  webhookAllowPrivateAddresses!: boolean;
  /** Whether DPoP proofs need a nonce of the service (RFC 9449 §8). */
  dpopNonce!: boolean;
  /** The demonstration's own receiver of webhooks: the only URL that is exempt from the above. */
  ownReceiver?: string;
  redisUrl?: string;
  metricsToken?: string;
  /** How traces are sent; undefined if they are not. OpenTelemetry reads the endpoint itself. */
  tracing?: OtlpProtocol;
  /** The same for metrics. */
  metricsExport?: OtlpProtocol;
  /** The same for the audit log and refused requests. */
  logExport?: OtlpProtocol;
  trustedProxies!: string[];
  /** The maximum number of open connections, in total and per address. */
  connectionsMax!: number;
  connectionsPerAddress!: number;
  /** Seconds after which a connection is closed that does not read. */
  connectionIdle!: number;
  logLevel!: string;
  identityProviders!: IdentityProvider[];
  /** If false, people sign in only through providers and with passkeys. */
  passwordSignIn!: boolean;
  secondFactorForOperators!: boolean;
  /** Some actions of an admin wait for a second one (contract §17). */
  fourEyes!: boolean;
  /** Undefined if no mail is sent. */
  mail?: { smtpUrl: string; from: string };
  /** Mails an hour that one network address causes without a login. */
  mailsPerNetworkAddress!: number;
  /** Drivers can make their own account. */
  signUp!: boolean;
  /** The brand of the service, unless an admin has saved another (contract §14). */
  brand: BrandValues = PLAIN_BRAND;
  /** What happens to an event whose data breaks its schema (contract §21). */
  eventSchemaCheck!: 'warn' | 'refuse';

  /** Whether mail is sent: by SMTP, or in the demonstration into its inbox. */
  get sendsMail(): boolean {
    return this.mail !== undefined || this.demonstration;
  }

  /** Whether this instance answers more than health checks and metrics. */
  get serves(): boolean {
    return this.role !== 'worker';
  }

  /** Whether this instance delivers, sends mail, publishes planned events and purges. */
  get works(): boolean {
    return this.role !== 'api';
  }

  /** With an https base URL, cookies are `Secure` and `__Host-`, and HSTS is sent. */
  get secure(): boolean {
    return this.baseUrl.startsWith('https:');
  }
}

/** Reads the settings from the environment; throws a SettingsError that names each invalid one. */
export async function loadSettings(source: NodeJS.ProcessEnv): Promise<Settings> {
  const env = readEnvironment(source);
  const settings = Object.assign(new Settings(), {
    production: env.NODE_ENV === 'production',
    demonstration: isDemonstration(env),
    role: env.ROLE,
    port: env.PORT,
    host: env.HOST,
    baseUrl: new URL(env.BASE_URL ?? `http://localhost:${env.PORT}`).origin,
    databaseUrl: env.DATABASE_URL,
    databasePoolSize: env.DATABASE_POOL_SIZE,
    databaseWait: env.DATABASE_WAIT_SECONDS,
    migrateOnStart: env.MIGRATE_ON_START === 'true',
    migrationWait: env.MIGRATION_WAIT_SECONDS,
    dataDir: path.resolve(env.DATA_DIR),
    bootstrapOperator: bootstrapOperatorOf(env),
    accessTokenTtl: env.ACCESS_TOKEN_TTL_SECONDS,
    authorizationCodeTtl: env.AUTHORIZATION_CODE_TTL_SECONDS,
    portalLinkTtl: env.PORTAL_LINK_TTL_SECONDS,
    portalSessionTtl: env.PORTAL_SESSION_TTL_SECONDS,
    refreshTokenTtl: env.REFRESH_TOKEN_TTL_SECONDS,
    grantTtl: env.GRANT_TTL_SECONDS,
    refreshGrace: env.REFRESH_GRACE_SECONDS,
    consentExpiryDays: env.CONSENT_EXPIRY_DAYS || null,
    consentNoticeDays: env.CONSENT_EXPIRY_NOTICE_DAYS,
    sessionTtl: env.SESSION_TTL_SECONDS,
    operatorSessionTtl: env.OPERATOR_SESSION_TTL_SECONDS,
    operatorSessionIdle: env.OPERATOR_SESSION_IDLE_SECONDS,
    retentionDays: env.RETENTION_DAYS,
    accountDeletionDays: env.ACCOUNT_DELETION_DAYS,
    rateLimit: env.RATE_LIMIT_PER_HOUR,
    oauthRateLimit: env.OAUTH_RATE_LIMIT_PER_MINUTE,
    sessionRateLimit: env.SESSION_RATE_LIMIT_PER_MINUTE,
    webhookRetrySchedule: splitList(env.WEBHOOK_RETRY_SCHEDULE_SECONDS).map(Number),
    webhookConcurrency: env.WEBHOOK_CONCURRENCY,
    webhookAllowPrivateAddresses: env.WEBHOOK_ALLOW_PRIVATE_ADDRESSES === 'true',
    dpopNonce: env.DPOP_NONCE === 'true',
    redisUrl: env.REDIS_URL,
    metricsToken: env.METRICS_TOKEN,
    ...otlpExports(env),
    trustedProxies: splitList(env.TRUSTED_PROXIES ?? ''),
    connectionsMax: env.CONNECTIONS_MAX,
    connectionsPerAddress: env.CONNECTIONS_PER_ADDRESS,
    connectionIdle: env.CONNECTION_IDLE_SECONDS,
    logLevel: env.LOG_LEVEL,
    identityProviders:
      env.IDENTITY_PROVIDERS === undefined ? [] : parseIdentityProviders(env.IDENTITY_PROVIDERS),
    passwordSignIn: env.PASSWORD_SIGN_IN === 'true',
    secondFactorForOperators: env.SECOND_FACTOR_FOR_OPERATORS === 'true',
    fourEyes: env.FOUR_EYES === 'true',
    mail:
      env.SMTP_URL === undefined || env.MAIL_FROM === undefined
        ? undefined
        : { smtpUrl: env.SMTP_URL, from: env.MAIL_FROM },
    mailsPerNetworkAddress: env.MAILS_PER_NETWORK_ADDRESS,
    brand: {
      name: env.BRAND_NAME,
      accentColor: env.BRAND_ACCENT_COLOR?.toLowerCase() ?? null,
      supportEmail: env.BRAND_SUPPORT_EMAIL ?? null,
      privacyUrl: env.BRAND_PRIVACY_URL ?? null,
      termsUrl: env.BRAND_TERMS_URL ?? null,
      footer: env.BRAND_FOOTER ?? null,
    },
    eventSchemaCheck: env.EVENT_SCHEMA_CHECK,
    // The demonstration shows it where it can, unless it is switched off.
    signUp:
      env.SIGN_UP === undefined
        ? isDemonstration(env) && env.PASSWORD_SIGN_IN === 'true'
        : env.SIGN_UP === 'true',
  });
  if (settings.demonstration && !isLoopbackHost(settings.host)) {
    throw settingsRefused(
      'HOST must be a loopback address (127.0.0.1) in the demonstration; to listen elsewhere, set DATABASE_URL',
    );
  }
  if (settings.demonstration && settings.role !== 'all') {
    throw settingsRefused('ROLE must be all in the demonstration; to divide the work, set DATABASE_URL');
  }
  if (!settings.passwordSignIn && settings.identityProviders.length === 0) {
    throw settingsRefused(
      'PASSWORD_SIGN_IN can be false only with IDENTITY_PROVIDERS: otherwise nobody could log in',
    );
  }
  if (settings.signUp) refuseSignUpWithoutMail(settings);
  settings.encryptionKeys = [
    env.ENCRYPTION_KEY ? parseEncryptionKey(env.ENCRYPTION_KEY)! : await encryptionKeyOf(settings.dataDir),
    ...splitList(env.ENCRYPTION_KEYS_PREVIOUS ?? '').map((text) => parseEncryptionKey(text)!),
  ];
  return settings;
}

const isDemonstration = (env: ProcessEnvironment): boolean =>
  env.NODE_ENV !== 'production' && env.DATABASE_URL === undefined;

/** Signing up begins with a mail and ends with a password. */
function refuseSignUpWithoutMail(settings: Settings): void {
  const missing = !settings.sendsMail
    ? 'SMTP_URL and MAIL_FROM to be set'
    : !settings.passwordSignIn
      ? 'PASSWORD_SIGN_IN to be true'
      : undefined;
  if (missing === undefined) return;
  throw settingsRefused(`SIGN_UP can only be true with mail and passwords: it needs ${missing}`);
}

/** The settings that migrations need; `databaseUrl` is undefined if it is not set. Throws a SettingsError if one is invalid. */
export function migrationSettingsOf(
  source: NodeJS.ProcessEnv,
): Pick<Settings, 'databaseUrl' | 'migrationWait'> {
  const env = readEnvironment(source, ['DATABASE_URL', 'MIGRATION_WAIT_SECONDS']);
  return { databaseUrl: env.DATABASE_URL, migrationWait: env.MIGRATION_WAIT_SECONDS };
}

function bootstrapOperatorOf(env: ProcessEnvironment): BootstrapOperator | undefined {
  if (env.BOOTSTRAP_OPERATOR_EMAIL === undefined || env.BOOTSTRAP_OPERATOR_PASSWORD === undefined)
    return undefined;
  const id = env.BOOTSTRAP_OPERATOR_CLIENT_ID;
  const secret = env.BOOTSTRAP_OPERATOR_CLIENT_SECRET;
  return {
    email: env.BOOTSTRAP_OPERATOR_EMAIL,
    password: env.BOOTSTRAP_OPERATOR_PASSWORD,
    ...(id !== undefined && secret !== undefined ? { client: { id, secret } } : {}),
  };
}

/** What is sent by OpenTelemetry, and how: nothing without an endpoint. */
function otlpExports(env: ProcessEnvironment): Pick<Settings, 'tracing' | 'metricsExport' | 'logExport'> {
  const endpoint = env.OTEL_EXPORTER_OTLP_ENDPOINT;
  const logs = env.OTEL_EXPORTER_OTLP_LOGS_ENDPOINT;
  // They name people: an endpoint for everything does not ask for them.
  const logExporter = env.OTEL_LOGS_EXPORTER ?? (logs === undefined ? 'none' : 'otlp');
  if (logExporter === 'otlp' && (logs ?? endpoint) === undefined) {
    throw settingsRefused(
      'OTEL_LOGS_EXPORTER can be otlp only with OTEL_EXPORTER_OTLP_ENDPOINT or OTEL_EXPORTER_OTLP_LOGS_ENDPOINT',
    );
  }
  const protocol = (env.OTEL_EXPORTER_OTLP_PROTOCOL ?? 'http/protobuf') as OtlpProtocol;
  const sent = (where: string | undefined, exporter: string | undefined) =>
    where === undefined || exporter === 'none' ? undefined : protocol;
  return {
    tracing: sent(env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT ?? endpoint, env.OTEL_TRACES_EXPORTER),
    metricsExport: sent(env.OTEL_EXPORTER_OTLP_METRICS_ENDPOINT ?? endpoint, env.OTEL_METRICS_EXPORTER),
    logExport: sent(logs ?? endpoint, logExporter),
  };
}
