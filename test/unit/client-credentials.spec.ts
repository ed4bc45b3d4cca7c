import fc from 'fast-check';
import {
  basicHeaderOf,
  basicPartsOf,
  credentialsOf,
  type ClientCredentials,
} from '#access/clients/client-credentials.js';
import { basicHeader } from '../support/http.js';
import { processorTime } from '../support/processor-time.js';
import { ANY_CHARACTER } from '../support/any-character.js';

const parseBasicCredentials = (header: string): ClientCredentials | undefined => {
  const parts = basicPartsOf(header);
  return parts && credentialsOf(parts);
};

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('HTTP Basic credentials', () => {
  it.each([
    ['an empty header', ''],
    ['only the scheme', 'Basic'],
    ['the scheme and a blank', 'Basic '],
    ['another scheme', 'Bearer aWQ6c2VjcmV0'],
    ['text before them', 'x Basic aWQ6c2VjcmV0'],
    ['text after them', 'Basic aWQ6c2VjcmV0 x'],
    ['two of them', 'Basic aWQ6c2VjcmV0, Basic aWQ6c2VjcmV0'],
    ['no base64', 'Basic !!!!'],
    ['padding alone', 'Basic ===='],
    ['no colon', basic('id')],
    ['no id', basic(':secret')],
    ['only a colon', basic(':')],
    ['broken percent-encoding in the id', basic('%zz:secret')],
    ['broken percent-encoding in the secret', basic('id:100%')],
    ['percent-encoding that is not UTF-8', basic('id:%ff')],
    ['a line break', 'Basic aWQ6\nc2VjcmV0'],
  ])('are refused for %s', (_name, header) => expect(parseBasicCredentials(header)).toBeUndefined());

  it('are split at the first colon, so that a secret may contain a colon', () => {
    expect(parseBasicCredentials(basic('id:a:b'))).toEqual({ clientId: 'id', clientSecret: 'a:b' });
  });

  it('have no secret if the password is empty', () => {
    expect(parseBasicCredentials(basic('id:'))).toEqual({ clientId: 'id' });
  });

  it('are written so that a parser which splits at every blank and colon reads them correctly', () => {
    const halves = fc.record({
      userId: fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes(':')),
      password: fc.string({ unit: fc.constantFrom(...':%+a☀') }),
    });
    fc.assert(
      fc.property(halves, fc.constantFrom(' ', '   '), (parts, blanks) => {
        const sent = `Basic${blanks}${Buffer.from(`${parts.userId}:${parts.password}`).toString('base64')}`;
        const words = basicHeaderOf(sent, parts).split(' ');
        expect(words).toHaveLength(2);
        const cut = Buffer.from(words[1]!, 'base64').toString().split(':');
        expect(cut).toHaveLength(2);
        expect(credentialsOf({ userId: cut[0]!, password: cut[1]! })).toEqual(credentialsOf(parts));
      }),
    );
  });

  it('are form-urlencoded before base64 (RFC 6749 §2.3.1)', () => {
    expect(parseBasicCredentials(basic('i%3Ad:a+b%2B%C3%A9'))).toEqual({
      clientId: 'i:d',
      clientSecret: 'a b+é',
    });
    expect(parseBasicCredentials('basic aWQ6c2VjcmV0')).toEqual({ clientId: 'id', clientSecret: 'secret' });
  });

  it('survive encoding and parsing, whatever the id and the secret are', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((value) => value.isWellFormed());
    fc.assert(
      fc.property(text, text, (id, secret) => {
        const found = parseBasicCredentials(basicHeader({ id, secret }));
        return found?.clientId === id && found.clientSecret === secret;
      }),
    );
  });

  it('never make the parser throw, and are never incomplete', () => {
    const header = fc.oneof(
      fc.string({ unit: ANY_CHARACTER }),
      fc.string({ unit: ANY_CHARACTER }).map((rest) => `Basic ${rest}`),
      fc.uint8Array().map((bytes) => `Basic ${Buffer.from(bytes).toString('base64')}`),
      fc.string({ unit: fc.constantFrom(...'%:+a0fF') }).map(basic),
    );
    fc.assert(
      fc.property(header, (text) => {
        const found = parseBasicCredentials(text);
        return found === undefined || (found.clientId !== '' && found.clientSecret !== '');
      }),
      { numRuns: 1000 },
    );
  });

  it('are parsed in time proportional to their length', () => {
    const milliseconds = processorTime(() => {
      for (const text of [
        'Basic ' + ' '.repeat(16_000),
        `Basic ${'='.repeat(16_000)}`,
        `Basic ${'A'.repeat(16_000)}!`,
      ]) {
        expect(parseBasicCredentials(text)).toBeUndefined();
      }
    });
    // Measured: below 5. Quadratic time would take seconds.
    expect(milliseconds).toBeLessThan(500);
  });
});
