import { holdsExactNumbers } from '#events/webhooks/events/exact-numbers.js';
import { listOf } from '../support/list-of.js';

const isExact = (number: string): boolean => holdsExactNumbers(`{"data":{"a":${number}}}`, 'data');

describe('A number in the data of an event', () => {
  it.each([
    '0',
    '-0',
    '-0.0',
    '0e999',
    '0.000',
    '1',
    '1.0',
    '1.10',
    '100',
    '1e2',
    '1E+2',
    '12.50e-1',
    '0.1',
    '-0.1',
    '0.30000000000000004',
    '1e-7',
    '0.0000001',
    '5e-324',
    '123456789.123',
    '1.5e15',
    // A double as `%.17g` and as the shortest form write it.
    '0.10000000000000001',
    '-5.0000000000000002e-05',
    '3.1415926535897931',
    '4.9406564584124654e-324',
    '9007199254740991',
    '-9007199254740991',
    '9007199254740991.0',
    '9.007199254740991e15',
  ])('%s is exact', (number) => expect(isExact(number)).toBe(true));

  it.each(
    listOf(`
    1e-400, -1e-400, 4e-324, 1e400, -1e999, 1e99999999999999999999, 1e-99999999999999999999,
    9007199254740991.4, 0.12345678901234567890, 0.1000000000000000055511151231257827, 9007199254740992,
    9007199254740993, -9007199254740992, 12345678901234567890, 1e21, 1e300
  `),
  )('%s is not', (number) => expect(isExact(number)).toBe(false));

  it('with tens of thousands of digits is judged too', () => {
    const zeros = '0'.repeat(60_000);
    expect([isExact(`1.${zeros}`), isExact(`1.${zeros}1`), isExact(`0.${zeros}1e60001`)]).toEqual([
      true,
      false,
      true,
    ]);
  });
});

describe('Of a JSON text', () => {
  it.each([
    ['every number in the member counts', '{"data":{"a":[{"b":1},{"c":[2,1e-400]}]}}', false],
    ['so does the first', '{"data":[1e-400,1]}', false],
    ['other members do not count', '{"x":1e-400,"data":{"a":1},"y":{"data":1e-400}}', true],
    [
      'strings and names of members do not count',
      '{"data":{"1e-400":"1e-400","\\"":"\\\\","b":"\\",1e-400"}}',
      true,
    ],
    ['what follows strings does', '{"data":{"a":"\\\\\\"","b":"{[","c":1e-400}}', false],
    ['the name may be written with escapes', '{"\\u0064ata":{"a":1e-400}}', false],
    ['the last member of the name counts', '{"data":{"a":1e-400},"data":{"a":1}}', true],
    [
      'the last member of the name counts, also if it is the bad one',
      '{"data":{},"data":{"a":1e-400}}',
      false,
    ],
    ['spaces and lines do not matter', '\ufeff {\n"data"\t:\r\n{ "a" : [ 1e-400 ] } }\n', false],
    ['it may have none', '{"data":{"a":[true,false,null,{}]}}', true],
  ])('%s', (_what, text, expected) => expect(holdsExactNumbers(text, 'data')).toBe(expected));
});
