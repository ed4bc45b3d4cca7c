import { type ApiPropertyOptions, ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idPattern, type IdPrefix } from '#platform/secrets/ids.js';

/** The schema of a member: for `@ApiProperty`, and for parameters and headers. */
export type MemberSchema = ApiPropertyOptions & {
  type: 'string' | 'boolean' | 'integer' | 'number' | 'array';
};

type More = Record<string, unknown>;

const schema = (type: MemberSchema['type'], description: string | undefined, more: More): MemberSchema =>
  ({ type, ...(description === undefined ? {} : { description }), ...more }) as MemberSchema;

export const text = (description?: string, more: More = {}): MemberSchema =>
  schema('string', description, more);
export const flag = (description?: string): MemberSchema => schema('boolean', description, {});
export const whole = (description?: string, more: More = {}): MemberSchema =>
  schema('integer', description, more);
export const number = (description?: string): MemberSchema => schema('number', description, {});
export const time = (description?: string): MemberSchema =>
  text(description, { format: 'date-time', example: '2026-03-02T17:42:10Z' });
export const url = (description?: string): MemberSchema => text(description, { format: 'uri' });
export const oneOf = (...values: readonly string[]): MemberSchema => text(undefined, { enum: [...values] });
export const listOf = (items: MemberSchema, more: More = {}): MemberSchema =>
  schema('array', undefined, { items, ...more });
export const idOf = (prefix: IdPrefix, description?: string): MemberSchema =>
  text(description, { pattern: idPattern(prefix), example: `${prefix}01HN2NJ9NMRZBXT1H6FT9N7735` });
export const scopeNames = (): MemberSchema =>
  listOf(text(), { description: 'Names of scopes.', example: ['charging_session:read', 'vehicle:read'] });

/** The same, or null. */
export const orNull = (member: MemberSchema): ApiPropertyOptions => ({ ...member, nullable: true });
/** The same, or absent. */
export const optional = <T extends ApiPropertyOptions>(member: T): T => ({ ...member, required: false });

/** A link on the wire. */
@ApiSchema({ name: 'Link' })
export class LinkView {
  @ApiProperty(url()) url!: string;
}
