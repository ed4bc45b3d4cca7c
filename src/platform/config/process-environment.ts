import { plainToInstance } from 'class-transformer';
import {
  getMetadataStorage,
  IsEmail,
  IsIn,
  IsOptional,
  Length,
  Matches,
  MaxLength,
  MinLength,
  Validate,
  ValidateIf,
  validateSync,
} from 'class-validator';
import { CLIENT_ID_PATTERN } from '#platform/secrets/ids.js';
import { PASSWORD_MAX, PASSWORD_MIN } from '#platform/secrets/passwords.js';
import { BRAND_FOOTER_MAX, BRAND_NAME_MAX, PRODUCT_NAME } from './brand-values.js';
import { misspeltSettings } from './misspelt-settings.js';
import {
  IsAccentColor,
  IsBaseUrl,
  IsEncryptionKey,
  IsEncryptionKeyList,
  IsHttpUrl,
  IsIdentityProviderList,
  IsMailSender,
  IsPageUrl,
  IsPostgresUrl,
  IsRedisUrl,
  IsRetrySchedule,
  IsSmtpUrl,
  IsTrueOrFalse,
  IsProxyList,
  IsVisibleLine,
  WholeNumber,
} from './setting-constraints.js';
import { readFileSync } from 'node:fs';

const SUFFIX = '_FILE';
// A longer file is not the intended one.
const MOST_BYTES = 65_536;

/** The settings, including those read from files, and an error for each file that cannot be read, by setting. */
interface SettingsOfFiles {
  values: NodeJS.ProcessEnv;
  errors: string[];
}

/**
 * Reads `NAME_FILE` for each known setting, as containers provide secrets: the value is the file's content without the final line
 * break. A setting given both ways, and an empty or unreadable file, are errors.
 */
function readSettingFiles(source: NodeJS.ProcessEnv, names: readonly string[]): SettingsOfFiles {
  const values = { ...source };
  const errors: string[] = [];
  for (const name of new Set(names)) {
    // OpenTelemetry reads its own settings.
    if (name.startsWith('OTEL_')) continue;
    const file = source[name + SUFFIX];
    if (file === undefined || file === '') continue;
    const text = source[name] ? new Error(`must not be set together with ${name}`) : readText(file);
    if (typeof text === 'string') values[name] = text;
    else errors.push(`${name}${SUFFIX} ${text.message}`);
  }
  return { values, errors };
}

function readText(file: string): string | Error {
  try {
    const bytes = readFileSync(file);
    const text = bytes.length > MOST_BYTES ? '' : bytes.toString('utf8').replace(/\r?\n$/, '');
    return text === '' ? new Error('must name a file of at most 64 kB that contains the setting') : text;
  } catch (error) {
    return new Error(`must name a file that can be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

const YEAR = 31_536_000;
const RATE_LIMIT_MAX = 1_000_000_000;

/** The environment of the process: one property per setting, named as in contract §14. */
export class ProcessEnvironment {
  @IsOptional()
  @IsIn(['production', 'development', 'test'], { message: 'must be production, development or test' })
  NODE_ENV?: string;

  @IsIn(['all', 'api', 'worker'], { message: 'must be all, api or worker' })
  ROLE: 'all' | 'api' | 'worker' = 'all';

  @WholeNumber(1, 65535) PORT = 3000;

  @Length(1, 253, { message: 'must be an address or a host name to listen on' })
  @Matches(/^[A-Za-z0-9.:_-]+$/, { message: 'must be an address or a host name to listen on' })
  HOST = '127.0.0.1';

  @ValidateIf((env: ProcessEnvironment) => env.NODE_ENV === 'production' || env.BASE_URL !== undefined)
  @Validate(IsBaseUrl)
  BASE_URL?: string;

  @ValidateIf((env: ProcessEnvironment) => env.NODE_ENV === 'production' || env.DATABASE_URL !== undefined)
  @Validate(IsPostgresUrl)
  DATABASE_URL?: string;

  @WholeNumber(0, 3600, 'seconds') DATABASE_WAIT_SECONDS = 60;
  @Length(1, 4096, { message: 'must be the path of a folder' }) DATA_DIR = './data';
  @IsTrueOrFalse() MIGRATE_ON_START = 'true';
  @WholeNumber(0, 86_400, 'seconds') MIGRATION_WAIT_SECONDS = 600;

  // With a database that others may use, a key is only generated if NODE_ENV says that this is development.
  @ValidateIf(
    (env: ProcessEnvironment) =>
      env.NODE_ENV === 'production' ||
      env.ENCRYPTION_KEY !== undefined ||
      (env.NODE_ENV === undefined && env.DATABASE_URL !== undefined),
  )
  @Validate(IsEncryptionKey)
  ENCRYPTION_KEY?: string;

  @IsOptional() @Validate(IsEncryptionKeyList) ENCRYPTION_KEYS_PREVIOUS?: string;

  @ValidateIf((env: ProcessEnvironment) => env.hasOperatorSettings())
  @IsEmail({}, { message: 'must be an email address (required with the other BOOTSTRAP_OPERATOR_ settings)' })
  BOOTSTRAP_OPERATOR_EMAIL?: string;

  @ValidateIf((env: ProcessEnvironment) => env.hasOperatorSettings())
  @Length(PASSWORD_MIN, PASSWORD_MAX, {
    message: `must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters (required with the other BOOTSTRAP_OPERATOR_ settings)`,
  })
  BOOTSTRAP_OPERATOR_PASSWORD?: string;

  @ValidateIf((env: ProcessEnvironment) => env.hasOperatorClientSettings())
  @Matches(CLIENT_ID_PATTERN, {
    message:
      'must be a client id: "clnt" and a 26-character ULID (required with BOOTSTRAP_OPERATOR_CLIENT_SECRET)',
  })
  BOOTSTRAP_OPERATOR_CLIENT_ID?: string;

  @ValidateIf((env: ProcessEnvironment) => env.hasOperatorClientSettings())
  @MinLength(32, { message: 'must have at least 32 characters (required with BOOTSTRAP_OPERATOR_CLIENT_ID)' })
  @MaxLength(1024, { message: 'must have at most 1024 characters' })
  BOOTSTRAP_OPERATOR_CLIENT_SECRET?: string;

  @WholeNumber(1, YEAR, 'seconds') ACCESS_TOKEN_TTL_SECONDS = 36_000;
  @WholeNumber(1, 600, 'seconds') AUTHORIZATION_CODE_TTL_SECONDS = 60;
  @WholeNumber(1, 86_400, 'seconds') PORTAL_LINK_TTL_SECONDS = 300;
  @WholeNumber(1, 86_400, 'seconds') PORTAL_SESSION_TTL_SECONDS = 3600;
  @WholeNumber(1, 10 * YEAR, 'seconds') REFRESH_TOKEN_TTL_SECONDS = 2_592_000;
  @WholeNumber(1, 10 * YEAR, 'seconds') GRANT_TTL_SECONDS = YEAR;
  @WholeNumber(0, 3600, 'seconds') REFRESH_GRACE_SECONDS = 60;
  @WholeNumber(0, 3650, 'days') CONSENT_EXPIRY_DAYS = 0;
  @WholeNumber(1, 90, 'days') CONSENT_EXPIRY_NOTICE_DAYS = 14;
  @WholeNumber(60, YEAR, 'seconds') SESSION_TTL_SECONDS = 604_800;
  @WholeNumber(60, YEAR, 'seconds') OPERATOR_SESSION_TTL_SECONDS = 43_200;
  @WholeNumber(60, YEAR, 'seconds') OPERATOR_SESSION_IDLE_SECONDS = 3600;
  @WholeNumber(1, 3650, 'days') RETENTION_DAYS = 30;
  @WholeNumber(0, 365, 'days') ACCOUNT_DELETION_DAYS = 7;
  @WholeNumber(1, RATE_LIMIT_MAX) RATE_LIMIT_PER_HOUR = 1000;
  @WholeNumber(1, RATE_LIMIT_MAX) OAUTH_RATE_LIMIT_PER_MINUTE = 600;
  @WholeNumber(1, RATE_LIMIT_MAX) SESSION_RATE_LIMIT_PER_MINUTE = 600;
  @Validate(IsRetrySchedule) WEBHOOK_RETRY_SCHEDULE_SECONDS = '5,300,1800,7200,18000,36000,50400,72000,86400';
  @WholeNumber(1, 4096) WEBHOOK_CONCURRENCY = 512;
  @IsTrueOrFalse() WEBHOOK_ALLOW_PRIVATE_ADDRESSES = 'false';
  @IsTrueOrFalse() DPOP_NONCE = 'false';
  @IsOptional() @Validate(IsRedisUrl) REDIS_URL?: string;

  @IsOptional()
  @Matches(/^[\x21-\x7e]{16,512}$/, {
    message: 'must be 16 to 512 printable ASCII characters without spaces',
  })
  METRICS_TOKEN?: string;

  @IsOptional() @Validate(IsHttpUrl) OTEL_EXPORTER_OTLP_ENDPOINT?: string;
  @IsOptional() @Validate(IsHttpUrl) OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?: string;
  @IsOptional() @Validate(IsHttpUrl) OTEL_EXPORTER_OTLP_METRICS_ENDPOINT?: string;
  @IsOptional() @Validate(IsHttpUrl) OTEL_EXPORTER_OTLP_LOGS_ENDPOINT?: string;
  @IsOptional() @IsIn(['otlp', 'none'], { message: 'must be otlp or none' }) OTEL_TRACES_EXPORTER?: string;
  @IsOptional() @IsIn(['otlp', 'none'], { message: 'must be otlp or none' }) OTEL_METRICS_EXPORTER?: string;
  @IsOptional() @IsIn(['otlp', 'none'], { message: 'must be otlp or none' }) OTEL_LOGS_EXPORTER?: string;

  @IsOptional()
  @IsIn(['http/protobuf', 'http/json'], { message: 'must be http/protobuf or http/json' })
  OTEL_EXPORTER_OTLP_PROTOCOL?: string;

  @IsOptional() @Validate(IsProxyList) TRUSTED_PROXIES?: string;
  @WholeNumber(10, 1_000_000) CONNECTIONS_MAX = 20_000;
  @WholeNumber(1, 1_000_000) CONNECTIONS_PER_ADDRESS = 1000;
  @WholeNumber(1, 3600, 'seconds') CONNECTION_IDLE_SECONDS = 30;
  @WholeNumber(2, 1000) DATABASE_POOL_SIZE = 20;
  @IsOptional() @Validate(IsIdentityProviderList) IDENTITY_PROVIDERS?: string;
  @IsTrueOrFalse() PASSWORD_SIGN_IN = 'true';
  @IsTrueOrFalse() SECOND_FACTOR_FOR_OPERATORS = 'false';
  @IsTrueOrFalse() FOUR_EYES = 'false';

  @ValidateIf((env: ProcessEnvironment) => env.SMTP_URL !== undefined || env.MAIL_FROM !== undefined)
  @Validate(IsSmtpUrl)
  SMTP_URL?: string;

  @ValidateIf((env: ProcessEnvironment) => env.SMTP_URL !== undefined || env.MAIL_FROM !== undefined)
  @Validate(IsMailSender)
  MAIL_FROM?: string;

  @WholeNumber(1, 1_000_000) MAILS_PER_NETWORK_ADDRESS = 20;
  // Its default depends on others (`settings.ts`).
  @IsOptional() @IsTrueOrFalse() SIGN_UP?: string;

  @IsIn(['warn', 'refuse'], { message: 'must be warn or refuse' })
  EVENT_SCHEMA_CHECK: 'warn' | 'refuse' = 'warn';

  @Length(1, BRAND_NAME_MAX, { message: `must have 1 to ${BRAND_NAME_MAX} characters` })
  @Validate(IsVisibleLine)
  BRAND_NAME = PRODUCT_NAME;

  @IsOptional() @Validate(IsAccentColor) BRAND_ACCENT_COLOR?: string;
  @IsOptional() @IsEmail({}, { message: 'must be an email address' }) BRAND_SUPPORT_EMAIL?: string;
  @IsOptional() @Validate(IsPageUrl) BRAND_PRIVACY_URL?: string;
  @IsOptional() @Validate(IsPageUrl) BRAND_TERMS_URL?: string;

  @IsOptional()
  @Length(1, BRAND_FOOTER_MAX, { message: `must have 1 to ${BRAND_FOOTER_MAX} characters` })
  @Validate(IsVisibleLine)
  BRAND_FOOTER?: string;

  @IsIn(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    message: 'must be fatal, error, warn, info, debug, trace or silent',
  })
  LOG_LEVEL = 'info';

  private hasOperatorSettings(): boolean {
    return (
      this.BOOTSTRAP_OPERATOR_EMAIL !== undefined ||
      this.BOOTSTRAP_OPERATOR_PASSWORD !== undefined ||
      this.hasOperatorClientSettings()
    );
  }

  private hasOperatorClientSettings(): boolean {
    return (
      this.BOOTSTRAP_OPERATOR_CLIENT_ID !== undefined || this.BOOTSTRAP_OPERATOR_CLIENT_SECRET !== undefined
    );
  }
}

/** The names of all settings: every property has a check. */
export const SETTING_NAMES = [
  ...new Set(
    getMetadataStorage()
      .getTargetValidationMetadatas(ProcessEnvironment, '', false, false)
      .map(({ propertyName }) => propertyName),
  ),
];

/** Invalid settings stop the start; the message names each one and says what it may be, never its value. */
export class SettingsError extends Error {}

/** The error of settings with which the service cannot start: a line for each, which begins with its name. */
export const settingsRefused = (...lines: string[]): SettingsError =>
  new SettingsError(
    `The service cannot start with these settings:\n${lines.map((line) => `  ${line}`).join('\n')}`,
  );

/**
 * Reads and validates the environment, and the files named by `NAME_FILE`; an empty value counts as unset. `needed` limits which
 * settings matter. Throws a SettingsError that names every invalid setting.
 */
export function readEnvironment(
  environmentOfProcess: NodeJS.ProcessEnv,
  needed?: string[],
): ProcessEnvironment {
  const { values: source, errors: unread } = readSettingFiles(environmentOfProcess, needed ?? SETTING_NAMES);
  const given = SETTING_NAMES.filter((name) => source[name] !== undefined && source[name] !== '');
  const environment = plainToInstance(
    ProcessEnvironment,
    Object.fromEntries(given.map((name) => [name, source[name]])),
  );
  const errors = validateSync(environment, { stopAtFirstError: true }).filter(
    // A setting whose file could not be read is not also reported as missing.
    ({ property }) =>
      (needed?.includes(property) ?? true) && !unread.some((line) => line.startsWith(`${property}_FILE `)),
  );
  if (errors.length > 0 || unread.length > 0) {
    throw settingsRefused(
      ...unread,
      ...errors.map((error) => `${error.property} ${Object.values(error.constraints ?? {})[0]}`),
      ...misspeltSettings(environmentOfProcess, SETTING_NAMES),
    );
  }
  return environment;
}
