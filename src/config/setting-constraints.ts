import {
  ValidatorConstraint,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
import { isLoopbackHost } from './loopback.js';
import { isUrl } from './is-url.js';

/** 32 bytes written as base64 (or base64url), with or without padding. */
export function parseEncryptionKey(text: string): Buffer | undefined {
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return undefined;
  const key = Buffer.from(text, 'base64');
  return key.length === 32 ? key : undefined;
}

/** Splits a comma-separated setting; blanks around the parts are dropped. */
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
  defaultMessage(): string {
    return 'must be 32 random bytes in base64 (for example from: openssl rand -base64 32)';
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

/** Whether the clients of databases read it: the credentials are percent-encoded, and a host is named where there must be one. */
function isServerUrl(text: string, needsHost = false): boolean {
  if (/\s|%(?![0-9a-f]{2})/i.test(text) || !isUrl(text)) return false;
  const { hostname, username, password, pathname } = new URL(text);
  try {
    decodeURIComponent(`${username}:${password}${pathname}`);
  } catch {
    return false;
  }
  return !needsHost || hostname !== '';
}

@ValidatorConstraint()
export class IsPostgresUrl implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return typeof value === 'string' && /^postgres(ql)?:\/\//.test(value) && isServerUrl(value);
  }
  defaultMessage(): string {
    return 'must be a PostgreSQL URL: postgres://user:password@host:port/database';
  }
}

@ValidatorConstraint()
export class IsRedisUrl implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return (
      typeof value === 'string' &&
      value
        .split(/,\s*(?=rediss?:\/\/)/)
        .every((part) => /^rediss?:\/\//.test(part) && isServerUrl(part, true))
    );
  }
  defaultMessage(): string {
    return 'must be a Redis URL: redis://user:password@host:port, or rediss:// for TLS; several of a cluster separated by commas';
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

/** Not as 127.1 or 0x7f.0.0.1, which not everybody reads alike. */
const isPlainAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%');

/** Everybody is no proxy, and whoever compares addresses with the list does not take it for one. */
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
