import { applyDecorators } from '@nestjs/common';
import { Transform } from 'class-transformer';
import {
  isEmail,
  IsIn,
  ValidateBy,
  ValidatorConstraint,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
import { AA, isHexColor, isReadableAccent } from './brand-values.js';
import { parseDatabaseUrl } from './database-url.js';
import { parseIdentityProviders } from './identity-providers.js';
import { isHttpsPage, isUrl, isLoopbackHost } from './is-url.js';
import { parseRedisUrl } from './redis-url.js';

/** 32 bytes in base64 or base64url, with or without padding. */
export function parseEncryptionKey(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  return key.length === 32 ? key : undefined;
}

/** Splits a comma-separated setting and trims the parts. */
export const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

@ValidatorConstraint()
export class IsEncryptionKey implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return typeof value === 'string' && parseEncryptionKey(value) !== undefined;
  }
  defaultMessage({ value }: ValidationArguments): string {
    const rule = 'must be 32 random bytes in base64 (for example from: openssl rand -base64 32)';
    return value === undefined
      ? `${rule}: it is required with DATABASE_URL, and generated only with NODE_ENV=development`
      : rule;
  }
}

@ValidatorConstraint()
export class IsEncryptionKeyList implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return typeof value === 'string' && splitList(value).every((part) => parseEncryptionKey(part));
  }
  defaultMessage(): string {
    return 'must be keys of 32 bytes in base64, separated by commas';
  }
}

function whyNotPostgres(text: string): unknown {
  try {
    parseDatabaseUrl(text);
    return undefined;
  } catch (error) {
    return error;
  }
}

@ValidatorConstraint()
export class IsPostgresUrl implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return typeof value === 'string' && whyNotPostgres(value) === undefined;
  }
  defaultMessage({ value }: ValidationArguments): string {
    const { code, path } = (typeof value === 'string' ? whyNotPostgres(value) : {}) as NodeJS.ErrnoException;
    // A certificate or key file named by the URL.
    if (code !== undefined && path !== undefined)
      return `must name files that can be read: ${path} (${code})`;
    return 'must be a PostgreSQL URL: postgres://user:password@host:port/database; several hosts of one database are separated by commas';
  }
}

@ValidatorConstraint()
export class IsRedisUrl implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    if (typeof value !== 'string') return false;
    try {
      return Boolean(parseRedisUrl(value));
    } catch {
      return false;
    }
  }
  defaultMessage(): string {
    return 'must be a Redis URL: redis://user:password@host:port, redis+sentinel://host:port,host:port/master or redis+cluster://host:port,host:port; with rediss for TLS';
  }
}

@ValidatorConstraint()
export class IsHttpUrl implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return typeof value === 'string' && /^https?:\/\/[^/?#]/.test(value) && isUrl(value);
  }
  defaultMessage(): string {
    return 'must be an http or https URL, such as http://localhost:4318';
  }
}

@ValidatorConstraint()
export class IsPageUrl implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return typeof value === 'string' && isHttpsPage(value);
  }
  defaultMessage(): string {
    return 'must be an https URL, such as https://www.example.com/privacy';
  }
}

@ValidatorConstraint()
export class IsAccentColor implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return typeof value === 'string' && isReadableAccent(value);
  }
  defaultMessage({ value }: ValidationArguments): string {
    return typeof value === 'string' && isHexColor(value)
      ? `must be darker: its contrast with white text and with light pages must be at least ${AA}:1`
      : 'must be a colour such as #006b57';
  }
}

/** One line that people can see, with nothing in it that hides how it reads. */
@ValidatorConstraint()
export class IsVisibleLine implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return (
      typeof value === 'string' &&
      /[^\s\p{C}\p{Z}]/u.test(value) &&
      !/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(value)
    );
  }
  defaultMessage(): string {
    return 'must be one line of visible text';
  }
}

@ValidatorConstraint()
export class IsRetrySchedule implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    const parts = typeof value === 'string' ? splitList(value) : [];
    return (
      parts.length >= 1 &&
      parts.length <= 50 &&
      parts.every((part) => /^\d{1,7}$/.test(part) && Number(part) >= 1 && Number(part) <= 604_800)
    );
  }
  defaultMessage(): string {
    return 'must be 1 to 50 whole numbers of seconds, each from 1 to 604800, separated by commas';
  }
}

@ValidatorConstraint()
export class IsBaseUrl implements ValidatorConstraintInterface {
  validate(value: unknown, args: ValidationArguments): boolean {
    if (typeof value !== 'string' || !isUrl(value)) return false;
    const url = new URL(value);
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return false;
    if (url.pathname !== '/' || url.search || url.hash || url.username || url.password) return false;
    if (value.includes('?') || value.includes('#')) return false;
    const production = (args.object as { NODE_ENV?: string }).NODE_ENV === 'production';
    return !production || url.protocol === 'https:' || isLoopbackHost(url.hostname);
  }
  defaultMessage(): string {
    return 'must be the public origin of the service, without a path: https://auth.example.com (http only on loopback in production)';
  }
}

/** Rejects forms such as 127.1 or 0x7f.0.0.1, which programs read differently. */
const isPlainAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%');

/** Rejects /0: it would trust everybody as a proxy, and the address matching does not support it. */
const isNetwork = (text: string): boolean =>
  ipaddr.isValidCIDR(text) && isPlainAddress(text.split('/')[0]!) && !/\/0+$/.test(text);

@ValidatorConstraint()
export class IsProxyList implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return (
      typeof value === 'string' && splitList(value).every((part) => isPlainAddress(part) || isNetwork(part))
    );
  }
  defaultMessage(): string {
    return 'must be IP addresses or networks (10.0.0.0/8, not /0), separated by commas';
  }
}

/** A setting that is either on or off. */
export const IsTrueOrFalse = (): PropertyDecorator =>
  IsIn(['true', 'false'], { message: 'must be true or false' });

/** Digits are converted to a number; anything else than a whole number in these bounds is refused. */
export const WholeNumber = (min: number, max: number, unit?: string): PropertyDecorator =>
  applyDecorators(
    Transform(({ value }) =>
      typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : (value as unknown),
    ),
    ValidateBy({
      name: 'wholeNumber',
      constraints: [min, max],
      validator: {
        validate: (value) => Number.isInteger(value) && value >= min && value <= max,
        defaultMessage: () => `must be a whole number${unit ? ` of ${unit}` : ''} from ${min} to ${max}`,
      },
    }),
  );

@ValidatorConstraint()
export class IsIdentityProviderList implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return typeof value === 'string' && whyNoProviders(value) === undefined;
  }
  defaultMessage({ value }: ValidationArguments): string {
    return typeof value === 'string' ? whyNoProviders(value)! : 'must be a JSON array of providers';
  }
}

function whyNoProviders(text: string): string | undefined {
  try {
    parseIdentityProviders(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

@ValidatorConstraint()
export class IsSmtpUrl implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    if (typeof value !== 'string' || !isUrl(value)) return false;
    const { protocol, hostname, pathname, search, hash } = new URL(value);
    return /^smtps?:$/.test(protocol) && hostname !== '' && /^\/?$/.test(pathname) && !search && !hash;
  }
  defaultMessage(): string {
    return 'must be smtp://user:password@host:587 or smtps://… (required with MAIL_FROM)';
  }
}

@ValidatorConstraint()
export class IsMailSender implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    if (typeof value !== 'string') return false;
    const [, named] = /^[^<>"\p{C}]{1,100} <([^<>]+)>$/u.exec(value) ?? [];
    return isEmail(named ?? value);
  }
  defaultMessage(): string {
    return 'must be an email address, or a name with one: Charging <no-reply@charging.example> (required with SMTP_URL)';
  }
}
