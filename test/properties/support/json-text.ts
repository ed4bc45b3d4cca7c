import fc from 'fast-check';
import { oddText } from './odd-text.js';
import { listOf } from '../../support/list-of.js';

/** JSON as text, so that it can contain what no JavaScript value can: repeated members, 1e999, `__proto__`. */
export type Json =
  | string
  | number
  | boolean
  | null
  | { raw: string }
  | { list: Json[] }
  | { members: [string, Json][] };

export function written(json: Json): string {
  if (typeof json !== 'object' || json === null) return JSON.stringify(json);
  if ('raw' in json) return json.raw;
  if ('list' in json) return `[${json.list.map(written).join(',')}]`;
  return `{${json.members.map(([name, value]) => `${JSON.stringify(name)}:${written(value)}`).join(',')}}`;
}

const NUMBERS = listOf('0, -0, 1, -1, 1.5, 1e999, -1e999, 1e-999, 9007199254740993, 2147483648, 1E+2');
const nested = (depth: number, open: string, close: string): Json => ({
  raw: `${open.repeat(depth)}0${close.repeat(depth)}`,
});

const scalar = (): fc.Arbitrary<Json> =>
  fc.oneof(
    oddText(),
    fc.boolean(),
    fc.constant(null),
    fc.constantFrom(...NUMBERS).map((raw) => ({ raw })),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  );

/** A member name that is unknown or has a special meaning in JavaScript. */
export const memberName = (): fc.Arbitrary<string> =>
  fc.oneof(
    fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'then', 'length', '0', ''),
    oddText(),
  );

const ANY_JSON: fc.Arbitrary<Json> = fc.oneof(
  { weight: 5, arbitrary: scalar() },
  { weight: 1, arbitrary: fc.array(scalar(), { maxLength: 4 }).map((list) => ({ list })) },
  {
    weight: 1,
    arbitrary: fc.array(fc.tuple(memberName(), scalar()), { maxLength: 4 }).map((members) => ({ members })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      nested(30, '[', ']'),
      nested(5000, '[', ']'),
      nested(33, '{"a":', '}'),
      nested(5000, '{"a":', '}'),
      { list: Array.from({ length: 5000 }, () => 0) },
      {
        members: [['constructor', { members: [['prototype', { members: [['role', 'operator']] }]] }]],
      } as Json,
      { members: [['__proto__', { members: [['role', 'operator']] }]] } as Json,
    ),
  },
);

/** Any JSON, including deep nesting and repeated members. */
export const anyJson = (): fc.Arbitrary<Json> => ANY_JSON;

/** Text that is not JSON, or only nearly. */
export const brokenJson = (): fc.Arbitrary<string> =>
  fc.constantFrom(
    '',
    ' ',
    '{',
    '}',
    '[1,',
    '{"a":',
    '{"a":1}}',
    "{'a':1}",
    '{"a":01}',
    '{"a":.5}',
    '\ufeff{}',
    '{"a":1,}',
    '{"a"}',
    'NaN',
    '"\\ud8"',
    '"\u0000"',
    '{"a":"\t"}',
    '/**/{}',
    '{}{}',
    'null',
    '0',
    '[]',
    '"x"',
  );
