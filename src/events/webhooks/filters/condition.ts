import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import { text } from '#platform/http/api/api-schemas.js';
import { violation } from '#platform/http/problems/violation.js';
import {
  IsListOfObjects,
  IsMatching,
  IsOneOf,
  IsScalarOrList,
} from '#platform/http/validation/validation.decorators.js';

/** Contract §22. */
export const CONDITIONS_MAX = 20;
export const VALUES_MAX = 50;
export const VALUE_MAX = 255;
/** Of the whole list as JSON. */
export const FILTERS_MAX = 8_000;

export const OPERATORS = [
  'equals',
  'not_equals',
  'in',
  'greater',
  'at_least',
  'less',
  'at_most',
  'exists',
  'starts_with',
] as const;
export type Operator = (typeof OPERATORS)[number];

export type Scalar = string | number | boolean | null;

/** What an event must have to be sent: a condition on the member at a dotted path (contract §22). */
export interface Condition {
  path: string;
  operator: Operator;
  /** A list for `in`; true or false for `exists`. */
  value: Scalar | Scalar[];
}

/** Names of members with dots between them. */
const PATH = /^[^.]{1,100}(?:\.[^.]{1,100}){0,9}$/u;

/** A condition in a body; its value may be left out for `exists`. Whether it fits the event types is for `FilterRules`. */
class ConditionDto {
  @ApiProperty(text('Dotted, within the event.', { example: 'data.energy_kwh' }))
  @IsMatching(PATH, violation('filter_path_form'))
  path!: string;

  @IsOneOf(...OPERATORS) operator!: Operator;

  @ApiProperty({
    required: false,
    description:
      'As the type of the member; a list for `in`. For `exists` true, as if it is left out, or false.',
  })
  @IsScalarOrList(VALUES_MAX, VALUE_MAX)
  value?: Scalar | Scalar[];
}

/** The schema of the list in answers. */
export const CONDITIONS_SCHEMA: ApiPropertyOptions = {
  type: () => ConditionDto,
  isArray: true,
  description: 'An event is sent only if all of these hold.',
};

export const AreConditions = (): PropertyDecorator =>
  IsListOfObjects(0, CONDITIONS_MAX, ConditionDto, violation('filters', { max: CONDITIONS_MAX }));

/** As it is stored and shown: nothing else, and in this order. */
export const written = ({ path, operator, value }: Partial<Condition>): Condition => ({
  path: path!,
  operator: operator!,
  value: value === undefined && operator === 'exists' ? true : value!,
});
