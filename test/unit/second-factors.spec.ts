import { TOTP } from 'otpauth';
import {
  isOneTimePassword,
  newTotpSecret,
  stepOfCode,
  totpUri,
} from '#access/users/factors/one-time-passwords.js';
import {
  newRecoveryCode,
  readRecoveryCode,
  recoveryCodeDigest,
} from '#access/users/factors/recovery-codes.service.js';

// The secret of RFC 6238, appendix B: the ASCII text 12345678901234567890.
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const USER = 'user01HN2NJ9NMRZBXT1H6FT9N7735';

describe('The code of an authenticator app', () => {
  afterEach(() => jest.restoreAllMocks());

  const at = (seconds: number, code: string): number | undefined => {
    jest.spyOn(Date, 'now').mockReturnValue(seconds * 1000);
    return stepOfCode(SECRET, code);
  };

  // The last six of the eight digits of the test vectors for SHA-1.
  it.each([
    [59, '287082', 1],
    [1_111_111_109, '081804', 37_037_036],
    [1_111_111_111, '050471', 37_037_037],
    [1_234_567_890, '005924', 41_152_263],
    [2_000_000_000, '279037', 66_666_666],
    [20_000_000_000, '353130', 666_666_666],
  ])('at %d s is the one of RFC 6238: %s', (seconds, code, step) => {
    expect(at(seconds, code)).toBe(step);
  });

  it('is accepted one step early and late, under its own step, and no further', () => {
    const code = '005924';
    const steps = [-60, -30, 0, 30, 60].map((seconds) => at(1_234_567_890 + seconds, code));
    expect(steps).toEqual([undefined, 41_152_263, 41_152_263, 41_152_263, undefined]);
  });

  it('comes from a key of 160 bits, in an address that apps read', () => {
    const secret = newTotpSecret();
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    const uri = new URL(totpUri(secret, 'ada:@example.com', 'Ada: charging'));
    expect([uri.protocol, uri.host]).toEqual(['otpauth:', 'totp']);
    expect(Object.fromEntries(uri.searchParams)).toEqual({
      issuer: 'Ada  charging',
      secret,
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
    expect(stepOfCode(secret, new TOTP({ secret }).generate())).toBeDefined();
  });

  it.each(['12345', '1234567', '12345a', '１２３４５６', ''])('is not %s', (text) => {
    expect(isOneTimePassword(text)).toBe(false);
  });
});

describe('A recovery code', () => {
  it('has 80 random bits, in letters that are not misread', () => {
    const codes = Array.from({ length: 200 }, newRecoveryCode);
    expect(new Set(codes).size).toBe(200);
    expect(codes.filter((code) => !/^([0-9a-hjkmnp-tv-z]{4}-){3}[0-9a-hjkmnp-tv-z]{4}$/.test(code))).toEqual(
      [],
    );
    expect(new Set(codes.join('').replaceAll('-', '')).size).toBe(32);
  });

  it('is read however it is typed', () => {
    for (const typed of [
      '0123-4567-89ab-cdef',
      'O1234567 89ABCDEF',
      ' oi23-4567-89ab-cdef\n',
      '0l23456789abcdef',
    ]) {
      expect(readRecoveryCode(typed)).toBe('0123456789abcdef');
    }
  });

  it.each([
    '',
    '123456',
    '0123-4567-89ab-cde',
    '0123-4567-89ab-cdefg',
    '0123-4567-89ab-cdeu',
    'é'.repeat(16),
  ])('is not %s', (typed) => {
    expect(readRecoveryCode(typed)).toBeUndefined();
  });

  it('has another digest for every user', () => {
    const [code, other] = ['0123-4567-89ab-cdef', USER.replace('7735', '7736')];
    expect(recoveryCodeDigest(USER, code)).toEqual(recoveryCodeDigest(USER, '0123456789ABCDEF'));
    expect(recoveryCodeDigest(USER, code)).not.toEqual(recoveryCodeDigest(other, code));
  });
});
