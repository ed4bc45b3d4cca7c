import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  isEmail,
  isISO8601,
  ValidateBy,
  ValidateIf,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { isId, type IdPrefix } from '../../secrets/ids.js';
import { PASSWORD_MAX, PASSWORD_MIN } from '../../secrets/passwords.js';
import { illegible } from './legible-text.js';
import { isUrl } from '../../config/is-url.js';
import { flag, idOf, listOf, oneOf, text, time, whole, type MemberSchema } from '../api/api-schemas.js';

/**
 * A rule for one member, with the message shown for it and the schema that describes it. Each member has one rule, so it gets one
 * message.
 */
const rule = (
  name: string,
  message: string | ((value: unknown) => string),
  isValid: (value: unknown) => boolean,
  schema: ApiPropertyOptions,
): PropertyDecorator => {
  const defaultMessage: ValidatorConstraintInterface['defaultMessage'] = (context) =>
    typeof message === 'string' ? message : message(context?.value);
  return applyDecorators(
    ValidateBy({ name, validator: { validate: isValid, defaultMessage } }),
    ApiProperty(schema),
  );
};

const sized = (min: number, max: number): MemberSchema =>
  text(undefined, { ...(min > 0 ? { minLength: min } : {}), maxLength: max });

const isTextOf = (value: unknown, min: number, max: number): value is string => {
  if (typeof value !== 'string') return false;
  // Code points, as PostgreSQL counts; class-validator's length rules ignore variation selectors.
  const { length } = Array.from(value);
  return length >= min && length <= max;
};

/** The member may be omitted, but not null, which class-validator's `IsOptional` would accept. */
export const IsOptionalNotNull = (): PropertyDecorator =>
  applyDecorators(
    ValidateIf((_object, value) => value !== undefined),
    ApiProperty({ required: false }),
  );

/** The member may be omitted or null. */
export const MayBeNull = (): PropertyDecorator =>
  applyDecorators(
    ValidateIf((_object, value) => value !== undefined && value !== null),
    ApiProperty({ required: false, nullable: true }),
  );

/** A known member that is never accepted, for an error that says why. It is not described. */
export const NeverAccepted = (message: string): PropertyDecorator =>
  ValidateBy({
    name: 'neverAccepted',
    validator: { validate: (value) => value === undefined, defaultMessage: () => message },
  });

/** A rule for a text that people read, without hidden characters: the message names the first one. */
const readableRule = (
  name: string,
  message: string,
  isValid: (value: unknown) => value is string,
  schema: MemberSchema,
  options?: { lines: boolean },
): PropertyDecorator => {
  const hidden = (value: unknown) => (isValid(value) ? illegible(value, options) : undefined);
  return rule(
    name,
    (value) => hidden(value) ?? message,
    (value) => isValid(value) && hidden(value) === undefined,
    schema,
  );
};

/** A text that is not displayed as a name: search terms, or texts with a rule of their own. */
export const IsText = (min: number, max: number): PropertyDecorator =>
  rule(
    'isText',
    `must be a string of ${min} to ${max} characters`,
    (value) => isTextOf(value, min, max),
    sized(min, max),
  );

/** Fewer letters and digits than these are in nearly every row, and no index finds them. */
const SEARCHED = 3;

/** A part of a text to search for in a table that grows with people. */
export const IsSearch = (max: number): PropertyDecorator =>
  rule(
    'isSearch',
    `must be a string of up to ${max} characters, with at least ${SEARCHED} letters or digits`,
    (value) => isTextOf(value, 1, max) && (value.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= SEARCHED,
    sized(SEARCHED, max),
  );

const VISIBLE = /[^\s\p{C}\p{Z}]/u;

/** A text that people read: one line or many, and either visible or possibly empty. */
const readableText =
  (name: string, { lines = false, visible = false }) =>
  (min: number, max: number): PropertyDecorator =>
    readableRule(
      name,
      `must be a string of ${min} to ${max} characters${visible ? ', not only spaces' : ''}`,
      (value): value is string => isTextOf(value, min, max) && (!visible || VISIBLE.test(value)),
      sized(min, max),
      { lines },
    );

/** One line that people read; may be empty. */
export const IsLine = readableText('isLine', {});

/** The same with any number of lines. */
export const AreLines = readableText('areLines', { lines: true });

/** A name or another line that must be visible: spaces and invisible characters alone are not enough. */
export const IsVisibleText = readableText('isVisibleText', { visible: true });

/** The same with any number of lines. */
export const AreVisibleLines = readableText('areVisibleLines', { lines: true, visible: true });

export const IsEmailAddress = (): PropertyDecorator =>
  readableRule(
    'isEmailAddress',
    'must be a valid email address of at most 254 characters',
    (value): value is string => isTextOf(value, 3, 254) && isEmail(value),
    text(undefined, { format: 'email', minLength: 3, maxLength: 254, example: 'ada@example.com' }),
  );

/** Counted in UTF-16 units, as the login and the page of a password link count. */
export const IsPassword = (): PropertyDecorator =>
  rule(
    'isPassword',
    `must be a string of ${PASSWORD_MIN} to ${PASSWORD_MAX} characters`,
    (value) => typeof value === 'string' && value.length >= PASSWORD_MIN && value.length <= PASSWORD_MAX,
    text(`${PASSWORD_MIN} to ${PASSWORD_MAX} characters, no other rules.`, {
      minLength: PASSWORD_MIN,
      maxLength: PASSWORD_MAX,
      example: 'correct horse battery staple',
    }),
  );

export const IsTrueOrFalse = (): PropertyDecorator =>
  rule('isTrueOrFalse', 'must be true or false', (value) => typeof value === 'boolean', flag());

export const IsWholeNumber = (min: number, max: number, orElse = ''): PropertyDecorator =>
  rule(
    'isWholeNumber',
    `must be a whole number from ${min} to ${max}${orElse}`,
    (value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
    whole(undefined, { minimum: min, maximum: max }),
  );

export const IsOneOf = (...allowed: readonly string[]): PropertyDecorator =>
  rule(
    'isOneOf',
    `must be one of: ${allowed.join(', ')}`,
    (value) => allowed.includes(value as string),
    oneOf(...allowed),
  );

export const IsMessageId = (): PropertyDecorator =>
  rule(
    'isMessageId',
    'must be ERR followed by 1 to 10 digits',
    (value) => typeof value === 'string' && /^ERR\d{1,10}$/.test(value),
    text(undefined, { pattern: '^ERR[0-9]{1,10}$', example: 'ERR1001' }),
  );

/** A link that a person may follow: https or http, so never `javascript:`. */
export const IsWebAddress = (): PropertyDecorator =>
  rule(
    'isWebAddress',
    'must be an https or http URL of at most 2000 characters',
    (value) => isTextOf(value, 1, 2000) && /^https?:\/\/[^\s/]/i.test(value) && isUrl(value),
    text(undefined, { format: 'uri', minLength: 1, maxLength: 2000, example: 'https://example.com/help' }),
  );

export const IsIdOf = (prefix: IdPrefix, what: string): PropertyDecorator =>
  rule(
    'isIdOf',
    `must be the id of a ${what}`,
    (value) => typeof value === 'string' && isId(prefix, value),
    idOf(prefix),
  );

// An offset can push a time out of the four-digit years, which could not be written back.
const inWrittenYears = (time: number): boolean =>
  time >= Date.parse('0001-01-01T00:00:00Z') && time <= Date.parse('9999-12-31T23:59:59.999Z');

/** ISO 8601: a date (its start in UTC), or a date and time with `Z` or an offset. */
export const IsTime = (): PropertyDecorator =>
  rule(
    'isTime',
    'must be an ISO 8601 date, or date and time with Z or an offset, such as 2026-01-31T08:00:00Z',
    (value) =>
      typeof value === 'string' &&
      /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/.test(value) &&
      isISO8601(value, { strict: true }) &&
      inWrittenYears(Date.parse(value)),
    time(),
  );

/** A list of distinct strings, each of which passes the test. */
export const IsListOfDifferent = (
  min: number,
  max: number,
  message: string,
  isItem: (item: string) => boolean = () => true,
  item: MemberSchema = text(),
): PropertyDecorator =>
  rule(
    'isListOfDifferent',
    message,
    (value) =>
      Array.isArray(value) &&
      value.length >= min &&
      value.length <= max &&
      new Set(value).size === value.length &&
      value.every((item) => typeof item === 'string' && isItem(item)),
    listOf(item, { ...(min > 0 ? { minItems: min } : {}), maxItems: max, uniqueItems: true }),
  );

const FREE_MEMBERS = Symbol('members of any form');

const isJsonObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Any JSON object (not an array, not null); validation leaves it exactly as sent. */
export const IsJsonObject = (): PropertyDecorator => (target, member) => {
  const schema: ApiPropertyOptions = { type: 'object', additionalProperties: true };
  rule('isJsonObject', 'must be a JSON object', isJsonObject, schema)(target, member);
  const others = (Reflect.getMetadata(FREE_MEMBERS, target) ?? []) as (string | symbol)[];
  Reflect.defineMetadata(FREE_MEMBERS, [...others, member], target);
};

/** The members of a body for this DTO that may be any JSON object, and are one. */
export function freeMembersOf(dto: { prototype: object } | undefined, body: object): Record<string, object> {
  const names = (dto && Reflect.getMetadata(FREE_MEMBERS, dto.prototype)) as string[] | undefined;
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => names?.includes(name) && isJsonObject(value)),
  );
}
