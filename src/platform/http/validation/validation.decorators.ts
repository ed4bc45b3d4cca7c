import { applyDecorators, type Type as ClassOf } from '@nestjs/common';
import { ApiProperty, OmitType, type ApiPropertyOptions } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { isEmail, isISO8601, ValidateBy, ValidateIf, ValidateNested } from 'class-validator';
import { isId, type IdPrefix } from '#platform/secrets/ids.js';
import { PASSWORD_MAX, PASSWORD_MIN } from '#platform/secrets/passwords.js';
import { violation, type Violation } from '../problems/violation.js';
import { illegible } from './legible-text.js';
import { AA, isHexColor, isReadableAccent, leastContrast } from '#platform/config/brand-values.js';
import { isHttpsPage, isUrl } from '#platform/config/is-url.js';
import { flag, idOf, listOf, oneOf, text, time, whole, type MemberSchema } from '../api/api-schemas.js';

/** The `context` of a rule's constraint: what is wrong with a value that it refuses. */
export interface RuleContext {
  violationOf(value: unknown): Violation;
}

// Without a message, the library leaves the context out.
const check = (isValid: (value: unknown) => boolean, violationOf: RuleContext['violationOf']) =>
  ValidateBy(
    { name: 'rule', validator: { validate: isValid, defaultMessage: () => 'see the context' } },
    { context: { violationOf } },
  );

/** A rule for one member, and the schema that describes it. Each member has one rule, so it gets one error. */
const rule = (
  broken: Violation | RuleContext['violationOf'],
  isValid: (value: unknown) => boolean,
  schema: ApiPropertyOptions,
): PropertyDecorator =>
  applyDecorators(check(isValid, typeof broken === 'function' ? broken : () => broken), ApiProperty(schema));

const sized = (min: number, max: number): MemberSchema =>
  text(undefined, { ...(min > 0 ? { minLength: min } : {}), maxLength: max });

/** Whether it is a text with this many code points. */
export const isTextOf = (value: unknown, min: number, max: number): value is string => {
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

/** A member that is fixed once this was created, for an error that says so. It is not described. */
export const Fixed = (what: string): PropertyDecorator =>
  check(
    (value) => value === undefined,
    () => violation('fixed', { what }),
  );

/** A rule for a text that people read, without hidden characters. */
const readableRule = (
  broken: Violation,
  isValid: (value: unknown) => value is string,
  schema: MemberSchema,
  options?: { lines: boolean },
): PropertyDecorator => {
  const hidden = (value: unknown) => (isValid(value) ? illegible(value, options) : undefined);
  return rule(
    (value) => hidden(value) ?? broken,
    (value) => isValid(value) && hidden(value) === undefined,
    schema,
  );
};

/** A text that is not displayed as a name: search terms, or texts with a rule of their own. */
export const IsText = (min: number, max: number): PropertyDecorator =>
  rule(violation('text', { min, max }), (value) => isTextOf(value, min, max), sized(min, max));

/** Shorter texts occur in nearly every row, and no index helps to find them. */
const SEARCHED = 3;

/** A text to search for in a table that grows with the number of users. */
export const IsSearch = (max: number): PropertyDecorator =>
  rule(
    violation('search', { max, least: SEARCHED }),
    (value) => isTextOf(value, 1, max) && (value.match(/[\p{L}\p{N}]/gu)?.length ?? 0) >= SEARCHED,
    sized(SEARCHED, max),
  );

/** Matches a text with visible characters. */
export const VISIBLE = /[^\s\p{C}\p{Z}]/u;

/** A text that people read: one line or many, and either visible or possibly empty. */
const readableText =
  ({ lines = false, visible = false }) =>
  (min: number, max: number): PropertyDecorator =>
    readableRule(
      violation(visible ? 'visible_text' : 'text', { min, max }),
      (value): value is string => isTextOf(value, min, max) && (!visible || VISIBLE.test(value)),
      sized(min, max),
      { lines },
    );

/** One line that people read; may be empty. */
export const IsLine = readableText({});

/** The same with any number of lines. */
export const AreLines = readableText({ lines: true });

/** A name or another line that must be visible: spaces and invisible characters alone are not enough. */
export const IsVisibleText = readableText({ visible: true });

/** The same with any number of lines. */
export const AreVisibleLines = readableText({ lines: true, visible: true });

export const IsEmailAddress = (): PropertyDecorator =>
  readableRule(
    violation('email'),
    (value): value is string => isTextOf(value, 3, 254) && isEmail(value),
    text(undefined, { format: 'email', minLength: 3, maxLength: 254, example: 'ada@example.com' }),
  );

/** Counted in UTF-16 units, as the login and the page of a password link count. */
export const IsPassword = (): PropertyDecorator =>
  rule(
    violation('text', { min: PASSWORD_MIN, max: PASSWORD_MAX }),
    (value) => typeof value === 'string' && value.length >= PASSWORD_MIN && value.length <= PASSWORD_MAX,
    text(`${PASSWORD_MIN} to ${PASSWORD_MAX} characters, no other rules.`, {
      minLength: PASSWORD_MIN,
      maxLength: PASSWORD_MAX,
      example: 'correct horse battery staple',
    }),
  );

export const IsTrueOrFalse = (): PropertyDecorator =>
  rule(violation('not_true_or_false'), (value) => typeof value === 'boolean', flag());

const isWhole = (value: unknown, min: number, max: number): boolean =>
  Number.isInteger(value) && (value as number) >= min && (value as number) <= max;

export const IsWholeNumber = (min: number, max: number, orNull?: 'or null'): PropertyDecorator =>
  rule(
    violation('whole_number', { min, max, orNull: orNull !== undefined }),
    (value) => isWhole(value, min, max),
    whole(undefined, { minimum: min, maximum: max }),
  );

export const IsOneOf = (...allowed: readonly string[]): PropertyDecorator =>
  rule(
    violation('one_of', { values: allowed }),
    (value) => allowed.includes(value as string),
    oneOf(...allowed),
  );

/** A text of this form. */
export const IsMatching = (pattern: RegExp, broken: Violation): PropertyDecorator =>
  rule(
    broken,
    (value) => typeof value === 'string' && pattern.test(value),
    text(undefined, { pattern: pattern.source }),
  );

/** Seconds in a query. */
export const IsSeconds = (min: number, max: number): PropertyDecorator =>
  rule(
    violation('seconds', { min, max }),
    (value) => isWhole(value, min, max),
    whole(undefined, { minimum: min, maximum: max }),
  );

export const IsMessageId = (): PropertyDecorator =>
  rule(
    violation('message_id'),
    (value) => typeof value === 'string' && /^ERR\d{1,10}$/.test(value),
    text(undefined, { pattern: '^ERR[0-9]{1,10}$', example: 'ERR1001' }),
  );

/** A link that a person may follow: https or http, so never `javascript:`. */
export const IsWebAddress = (): PropertyDecorator =>
  rule(
    violation('web_address'),
    (value) => isTextOf(value, 1, 2000) && /^https?:\/\/[^\s/]/i.test(value) && isUrl(value),
    text(undefined, { format: 'uri', minLength: 1, maxLength: 2000, example: 'https://example.com/help' }),
  );

/** A link to a page of a company: https only, so that nobody can change the page on its way. */
export const IsHttpsPage = (): PropertyDecorator =>
  rule(
    violation('https_address'),
    (value) => typeof value === 'string' && isHttpsPage(value),
    text(undefined, {
      format: 'uri',
      pattern: '^https://',
      maxLength: 2000,
      example: 'https://planner.example.com/privacy',
    }),
  );

/** A colour with enough contrast, both as text and as a background of text (WCAG level AA). */
export const IsAccentColor = (): PropertyDecorator =>
  rule(
    (value) =>
      typeof value === 'string' && isHexColor(value)
        ? violation('faint_color', { contrast: Math.floor(leastContrast(value) * 10) / 10, least: AA })
        : violation('color'),
    (value) => typeof value === 'string' && isReadableAccent(value),
    text(undefined, { pattern: '^#[0-9A-Fa-f]{6}$', example: '#006b57' }),
  );

export const IsIdOf = (prefix: IdPrefix, what: string): PropertyDecorator =>
  rule(
    violation('id', { what, prefix }),
    (value) => typeof value === 'string' && isId(prefix, value),
    idOf(prefix),
  );

// An offset can push a time out of the four-digit years, which could not be written back.
const inWrittenYears = (time: number): boolean =>
  time >= Date.parse('0001-01-01T00:00:00Z') && time <= Date.parse('9999-12-31T23:59:59.999Z');

const isTimeLike = (pattern: RegExp, value: unknown): boolean =>
  typeof value === 'string' &&
  pattern.test(value) &&
  isISO8601(value, { strict: true }) &&
  inWrittenYears(Date.parse(value));

/** RFC 3339, as the schemas say: a date and time with seconds, and `Z` or an offset. */
export const IsTime = (): PropertyDecorator =>
  rule(
    violation('time'),
    (value) => isTimeLike(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/, value),
    time(),
  );

/** What people type into a filter: a date (its start in UTC), or a date and time, also without seconds. */
export const IsTimeOrDay = (): PropertyDecorator =>
  rule(
    violation('time_or_day'),
    (value) => isTimeLike(/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d))?$/, value),
    time(),
  );

/** A date, `YYYY-MM-DD`. */
export const IsDay = (): PropertyDecorator =>
  rule(
    violation('day'),
    (value) =>
      typeof value === 'string' &&
      /^\d{4}-\d\d-\d\d$/.test(value) &&
      isISO8601(value, { strict: true }) &&
      inWrittenYears(Date.parse(value)),
    text(undefined, { format: 'date', example: '2026-03-02' }),
  );

/** A list of objects, each of which is checked by the rules of its class; their errors are at `member.place.name`, from place 0. */
export const IsListOfObjects = (
  min: number,
  max: number,
  item: new () => object,
  broken = violation('objects', { min, max }),
): PropertyDecorator =>
  applyDecorators(
    rule(
      broken,
      (value) =>
        Array.isArray(value) && value.length >= min && value.length <= max && value.every(isJsonObject),
      { type: () => item, isArray: true, minItems: min, maxItems: max },
    ),
    ValidateNested({ each: true }),
    Type(() => item),
  );

/** A list of distinct strings, each of which passes the test. */
export const IsListOfDifferent = (
  min: number,
  max: number,
  broken: Violation,
  isItem: (item: string) => boolean = () => true,
  item: MemberSchema = text(),
): PropertyDecorator =>
  rule(
    broken,
    (value) =>
      Array.isArray(value) &&
      value.length >= min &&
      value.length <= max &&
      new Set(value).size === value.length &&
      value.every((item) => typeof item === 'string' && isItem(item)),
    listOf(item, { ...(min > 0 ? { minItems: min } : {}), maxItems: max, uniqueItems: true }),
  );

const isScalar = (value: unknown, max: number): boolean =>
  value === null ||
  typeof value === 'boolean' ||
  typeof value === 'number' ||
  (typeof value === 'string' && isTextOf(value, 0, max));

/** A text, number, boolean or null, or a list of these; may be omitted. */
export const IsScalarOrList = (items: number, max: number): PropertyDecorator => {
  const types = { type: ['string', 'number', 'boolean', 'null'], maxLength: max };
  return applyDecorators(
    ValidateIf((_object, value) => value !== undefined),
    check(
      (value) =>
        Array.isArray(value)
          ? value.length > 0 && value.length <= items && value.every((each) => isScalar(each, max))
          : isScalar(value, max),
      () => violation('scalar', { items, max }),
    ),
    ApiProperty({
      required: false,
      oneOf: [types, { type: 'array', items: types, minItems: 1, maxItems: items }],
    } as never),
  );
};

const FREE_MEMBERS = Symbol('members of any form');

const isJsonObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Any JSON object (not an array, not null); validation leaves it exactly as sent. */
export const IsJsonObject = (): PropertyDecorator => (target, member) => {
  const schema: ApiPropertyOptions = { type: 'object', additionalProperties: true };
  rule(violation('json_object'), isJsonObject, schema)(target, member);
  const others = (Reflect.getMetadata(FREE_MEMBERS, target) ?? []) as (string | symbol)[];
  Reflect.defineMetadata(FREE_MEMBERS, [...others, member], target);
};

/** The DTO without some of its members. */
export function omitMembers<T extends object, K extends keyof T & string>(
  dto: ClassOf<T>,
  names: readonly K[],
): ClassOf<Omit<T, K>> {
  const rest = OmitType(dto, names);
  const free = (Reflect.getMetadata(FREE_MEMBERS, dto.prototype as object) ?? []) as string[];
  const left = free.filter((name) => !names.includes(name as K));
  Reflect.defineMetadata(FREE_MEMBERS, left, rest.prototype as object);
  return rest as ClassOf<Omit<T, K>>;
}

/** The members of a body for this DTO that may be any JSON object, and are one. */
export function freeMembersOf(dto: { prototype: object } | undefined, body: object): Record<string, object> {
  const names = (dto && Reflect.getMetadata(FREE_MEMBERS, dto.prototype)) as string[] | undefined;
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => names?.includes(name) && isJsonObject(value)),
  );
}
