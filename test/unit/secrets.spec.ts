import fc from 'fast-check';
import { decodeTime } from 'ulid';
import { HOUR_MS } from '#platform/config/durations.js';
import { CLIENT_ID_PATTERN, isId, newId, USER_ID_PATTERN } from '#platform/secrets/ids.js';
import { hashPassword, verifyPassword } from '#platform/secrets/passwords.js';
import {
  digestOf,
  isSecret,
  newSecret,
  sameDigest,
  SECRET_PREFIXES,
  type SecretKind,
} from '#platform/secrets/tokens.js';
import { seal, unseal } from '#platform/secrets/sealed-box.js';

const KINDS = Object.keys(SECRET_PREFIXES) as SecretKind[];
const key = (fill: string) => Buffer.alloc(32, fill);

describe('random secrets', () => {
  const anyKind = fc.constantFrom(...KINDS);

  it.each(['', 'x', 'cds_ss_', `cds_ss_${'x'.repeat(49)}`, `cds_ss_${'x'.repeat(5000)}`, 'Bearer cds_ss_'])(
    'do not look like "%s"',
    (text) => expect(KINDS.filter((kind) => isSecret(kind, text))).toEqual([]),
  );

  it('are refused if one character is changed, added or missing', () => {
    const letters = fc.constantFrom(...'ABCXYZabcxyz0189-_');
    fc.assert(
      fc.property(anyKind, fc.nat(200), letters, (kind, n, letter) => {
        const secret = newSecret(kind);
        const at = SECRET_PREFIXES[kind].length + (n % 49);
        const changed = secret.slice(0, at) + letter + secret.slice(at + 1);
        const others = [
          secret + letter,
          secret.slice(0, at) + secret.slice(at + 1),
          ` ${secret}`,
          `${secret}\n`,
        ];
        return (
          (changed === secret || !isSecret(kind, changed)) && !others.some((text) => isSecret(kind, text))
        );
      }),
    );
  });

  it.each(KINDS)('are recognised by kind: %s', (kind) => {
    const secret = newSecret(kind);
    expect(KINDS.filter((each) => isSecret(each, secret))).toEqual([kind]);
    expect(secret).toMatch(/^cds_[a-z]{2}_[A-Za-z0-9_-]{49}$/);
  });

  it('carry 256 random bits, and never repeat', () => {
    const bodies = Array.from({ length: 500 }, () => newSecret('session').slice(7, 50));
    expect(new Set(bodies).size).toBe(500);
    // Each of the 43 characters takes many values: no part of the body is constant.
    for (let at = 0; at < 42; at++) expect(new Set(bodies.map((body) => body[at])).size).toBeGreaterThan(30);
    expect(Buffer.from(bodies[0]!, 'base64url')).toHaveLength(32);
  });

  it('are stored as SHA-256 digests', () => {
    expect(digestOf('abc').toString('hex')).toBe(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    expect(sameDigest(digestOf('a'), digestOf('a'))).toBe(true);
    expect(sameDigest(digestOf('a'), digestOf('b'))).toBe(false);
    expect(sameDigest(digestOf('a'), Buffer.alloc(0))).toBe(false);
  });
});

describe('sealed text', () => {
  const sealed = seal(key('k'), 'the successor pair', 'row grant client');

  it.each([
    ['an empty text', () => unseal(key('k'), Buffer.alloc(0), 'row grant client')],
    ['only its nonce and tag', () => unseal(key('k'), sealed.subarray(0, 28), 'row grant client')],
  ])('does not open with %s', (_name, open) => expect(open()).toBeUndefined());

  it('does not open if any bit is changed', () => {
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(unseal(key('k'), changed, 'row grant client')).toBeUndefined();
    }
  });

  it('never throws for arbitrary bytes', () => {
    const bytes = fc.uint8Array({ maxLength: 100 });
    fc.assert(fc.property(bytes, (each) => unseal(key('k'), Buffer.from(each), 'data') === undefined));
  });

  it('is never the same twice, and reveals nothing of the text', () => {
    const again = seal(key('k'), 'the successor pair', 'row grant client');
    expect(again.equals(sealed)).toBe(false);
    expect(again.subarray(0, 12).equals(sealed.subarray(0, 12))).toBe(false);
    expect(sealed.toString('latin1')).not.toContain('successor');
  });
});

describe('passwords', () => {
  it('are refused if they are wrong, empty or too long, or if the account has none', async () => {
    const hash = await hashPassword('x'.repeat(256));
    expect(await verifyPassword(hash, 'x'.repeat(257))).toBe(false);
    expect(await verifyPassword(hash, 'x'.repeat(100_000))).toBe(false);
    expect(await verifyPassword(hash, '')).toBe(false);
    for (const none of [null, undefined])
      expect(await verifyPassword(none, 'a password that nobody has')).toBe(false);
    expect(await verifyPassword(hash, 'x'.repeat(256))).toBe(true);
  });

  it('are hashed with argon2id and their own salt', async () => {
    const [one, two] = await Promise.all([
      hashPassword('the same password'),
      hashPassword('the same password'),
    ]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(two);
  });

  it('match however the keyboard composes an accent', async () => {
    const hash = await hashPassword('cafe\u0301 au lait, twice');
    expect(await verifyPassword(hash, 'caf\u00e9 au lait, twice')).toBe(true);
    expect(await verifyPassword(hash, 'cafe au lait, twice')).toBe(false);
  });

  it('may grow by normalisation: an accepted password still works', async () => {
    // NFC turns each into two characters: the normal form is longer than the input.
    const long = '\u0958'.repeat(256);
    expect(long.normalize('NFC').length).toBeGreaterThan(256);
    expect(await verifyPassword(await hashPassword(long), long)).toBe(true);
  });
});

describe('ids', () => {
  it.each([
    '',
    'user',
    'user01HN2NJ9NMRZBXT1H6FT9N773',
    'clnt01HN2NJ9NMRZBXT1H6FT9N7735',
    'user81HN2NJ9NMRZBXT1H6FT9N7735',
  ])('of users do not look like "%s"', (text) => expect(isId('user', text)).toBe(false));

  it.each([
    'user01hn2nj9nmrzbxt1h6ft9n7735',
    'user01HN2NJ9NMRZBXT1H6FT9N77IL',
    'user01HN2NJ9NMRZBXT1H6FT9N7735\n',
  ])('are upper case, without I, L, O and U, and nothing else: not %j', (text) =>
    expect(isId('user', text)).toBe(false),
  );

  it('increase, and match only the pattern of their own prefix', () => {
    const ids = Array.from({ length: 1000 }, () => newId('user'));
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(1000);
    expect(
      ids.every((id) => isId('user', id) && USER_ID_PATTERN.test(id) && !CLIENT_ID_PATTERN.test(id)),
    ).toBe(true);
    expect(isId('user', 'user01HN2NJ9NMRZBXT1H6FT9N7735')).toBe(true);
    expect(CLIENT_ID_PATTERN.test(newId('clnt'))).toBe(true);
  });

  it('increase beside small corrections of the clock, and tell the time again after it was set back by an hour', () => {
    const timeOf = (id: string): number => decodeTime(id.slice(4));
    const hourAhead = Date.now() + HOUR_MS;
    const clock = jest.spyOn(Date, 'now').mockReturnValue(hourAhead);
    const ahead = newId('user');
    clock.mockReturnValue(hourAhead - 1000);
    const corrected = newId('user');
    clock.mockReturnValue(hourAhead - HOUR_MS);
    const back = [newId('user'), newId('user')];
    clock.mockRestore();
    expect([ahead, corrected].map(timeOf)).toEqual([hourAhead, hourAhead]);
    expect(corrected > ahead).toBe(true);
    expect(back.map(timeOf)).toEqual([hourAhead - HOUR_MS, hourAhead - HOUR_MS]);
    expect(back[1]! > back[0]!).toBe(true);
  });
});
