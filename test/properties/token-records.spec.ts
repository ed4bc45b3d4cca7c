import fc from 'fast-check';
import { createSecretKey, type KeyObject } from 'node:crypto';
import {
  accessTokenId,
  openAccessToken,
  openRefreshToken,
  TOKEN_PREFIXES,
  writeAccessToken,
  writeRefreshToken,
  type AccessTokenRecord,
  type RefreshTokenRecord,
} from '#access/tokens/keys/token-record.js';
import { oddText } from './support/odd-text.js';
import { always } from './support/runs.js';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const secretOf = (bytes: Uint8Array): KeyObject => createSecretKey(Buffer.from(bytes));
const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(secretOf);
const keyId = fc.integer({ min: 1, max: 0xffffffff });
const uint32 = fc.integer({ min: 0, max: 0xffffffff });
const uint48 = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const id = (prefix: string) => fc.ulid().map((ulid) => prefix + ulid);
const base = {
  keyId,
  clientId: id('clnt'),
  stamp: fc.record({ era: uint32, position: uint48 }),
  issuedAt: uint48,
  expiresAt: uint48,
  scopes: fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 255, size: 'small' }),
};
const jkt = fc
  .option(fc.uint8Array({ minLength: 32, maxLength: 32 }), { nil: undefined })
  .map((bytes) => bytes && Buffer.from(bytes).toString('base64url'));
const clientRecord = fc.record({
  kind: fc.constant('client' as const),
  id: fc.uint8Array({ minLength: 16, maxLength: 16 }).map((bytes) => Buffer.from(bytes).toString('hex')),
  epoch: uint32,
  jkt,
  ...base,
});
const ofUser = {
  kind: fc.constant('user' as const),
  grantId: id('grnt'),
  generation: uint32,
  userId: id('user'),
  ...base,
};
const userRecord = fc.oneof(
  fc.record({ grantEndsAt: fc.option(uint48, { nil: undefined }), ...ofUser }),
  fc.record({
    grantEndsAt: uint48,
    jkt: jkt.filter((each) => each !== undefined),
    serial: fc.option(
      fc
        .uint8Array({ minLength: 8, maxLength: 8 })
        .map((bytes) => Buffer.from(bytes).toString('hex'))
        .filter((hex) => !/^0+$/.test(hex)),
      { nil: undefined },
    ),
    ...ofUser,
  }),
);
const accessRecord: fc.Arbitrary<AccessTokenRecord> = fc.oneof(clientRecord, userRecord);
const refreshRecord: fc.Arbitrary<RefreshTokenRecord> = fc.record({
  keyId,
  grantId: id('grnt'),
  generation: uint32,
});

/** A token of either kind, a function that opens it, and its key. */
const signed = fc.oneof(
  fc.record({ record: accessRecord, secret: secrets }).map(({ record, secret }) => ({
    token: writeAccessToken(record, secret),
    open: (token: string, key = secret) => openAccessToken(token, () => key),
    secret,
  })),
  fc.record({ record: refreshRecord, secret: secrets }).map(({ record, secret }) => ({
    token: writeRefreshToken(record, secret),
    open: (token: string, key = secret) => openRefreshToken(token, () => key),
    secret,
  })),
);

const isRefused = (opened: object): boolean => 'refused' in opened;

describe('A token', () => {
  it('is not opened with another key or without a key', () => {
    always(
      fc.property(signed, secrets, ({ token, open, secret }, other) => {
        fc.pre(!other.equals(secret));
        expect(open(token, other)).toEqual({ refused: 'forged' });
      }),
    );
    always(
      fc.property(accessRecord, secrets, (record, secret) => {
        expect(openAccessToken(writeAccessToken(record, secret), () => undefined)).toEqual({
          refused: 'unknown_key',
        });
      }),
      50,
    );
  });

  it('is refused after one bit of its record or tag was changed', () => {
    always(
      fc.property(signed, fc.nat(), ({ token, open }, n) => {
        const prefix = token.slice(0, 7);
        const bytes = Buffer.from(token.slice(7), 'base64url');
        const bit = n % (bytes.length * 8);
        bytes[bit >> 3]! ^= 1 << (bit & 7);
        return isRefused(open(prefix + bytes.toString('base64url')));
      }),
    );
  });

  it('is refused after any of its bytes was changed to any other value', () => {
    for (const { token, open } of fc.sample(signed, 3)) {
      const bytes = Buffer.from(token.slice(7), 'base64url');
      const taken: [at: number, by: number][] = [];
      for (let at = 0; at < bytes.length; at++) {
        for (let by = 1; by < 256; by++) {
          const changed = Buffer.from(bytes);
          changed[at]! ^= by;
          if (!isRefused(open(token.slice(0, 7) + changed.toString('base64url')))) taken.push([at, by]);
        }
      }
      expect(taken).toEqual([]);
    }
  });

  it('is refused after a character was changed, including the spare bits of the last one', () => {
    always(
      fc.property(signed, ({ token, open }) =>
        [...LETTERS].every((letter) => {
          const changed = token.slice(0, -1) + letter;
          return changed === token || isRefused(open(changed));
        }),
      ),
    );
    always(
      fc.property(
        signed,
        fc.nat(),
        fc.constantFrom(...LETTERS, '=', '+', '/', ' ', '\n', '.'),
        (each, n, letter) => {
          const at = n % each.token.length;
          const changed = each.token.slice(0, at) + letter + each.token.slice(at + 1);
          return changed === each.token || isRefused(each.open(changed));
        },
      ),
    );
  });

  it('is refused when it is longer or shorter', () => {
    always(
      fc.property(signed, fc.nat(), oddText(), ({ token, open }, n, text) => {
        const at = n % token.length;
        const others = [
          token.slice(0, at),
          token + text,
          text + token,
          `${token}=`,
          `${token}A`,
          token.slice(0, at) + token.slice(at + 1),
          token.slice(0, 7) +
            Buffer.concat([Buffer.from(token.slice(7), 'base64url'), Buffer.alloc(n % 40)]).toString(
              'base64url',
            ),
        ];
        return others.every((other) => other === token || isRefused(open(other)));
      }),
    );
  });

  it('is only accepted as its own kind and in this version', () => {
    always(
      fc.property(accessRecord, refreshRecord, secrets, (access, refresh, secret) => {
        const body = (token: string) => token.slice(7);
        const [one, other] = [writeAccessToken(access, secret), writeRefreshToken(refresh, secret)];
        expect(isRefused(openAccessToken(other, () => secret))).toBe(true);
        expect(isRefused(openRefreshToken(one, () => secret))).toBe(true);
        expect(isRefused(openAccessToken(TOKEN_PREFIXES.access + body(other), () => secret))).toBe(true);
        expect(isRefused(openRefreshToken(TOKEN_PREFIXES.refresh + body(one), () => secret))).toBe(true);
        const bytes = Buffer.from(body(one), 'base64url');
        for (const version of [0, 2, 255]) {
          bytes[0] = version;
          const token = TOKEN_PREFIXES.access + bytes.toString('base64url');
          expect(openAccessToken(token, () => secret)).toEqual({ refused: 'malformed' });
        }
      }),
    );
  });

  it('is never accepted without a signature', () => {
    always(
      fc.property(oddText(), fc.uint8Array({ maxLength: 300 }), secrets, (text, bytes, secret) => {
        const texts = [text, Buffer.from(bytes).toString('base64url')];
        return texts.every((each) =>
          [each, TOKEN_PREFIXES.access + each, TOKEN_PREFIXES.refresh + each].every(
            (token) =>
              isRefused(openAccessToken(token, () => secret)) &&
              isRefused(openRefreshToken(token, () => secret)),
          ),
        );
      }),
    );
  });

  it('contains exactly the record that was written, and is written the same way each time', () => {
    always(
      fc.property(accessRecord, secrets, (record, secret) => {
        const token = writeAccessToken(record, secret);
        expect(openAccessToken(token, (each) => (each === record.keyId ? secret : undefined))).toEqual({
          record,
        });
        expect(writeAccessToken(record, secret)).toBe(token);
        expect(token).toMatch(/^cds_at_[A-Za-z0-9_-]+$/);
      }),
    );
    always(
      fc.property(refreshRecord, secrets, (record, secret) => {
        const token = writeRefreshToken(record, secret);
        expect(openRefreshToken(token, () => secret)).toEqual({ record });
        expect(token).toMatch(/^cds_rt_[A-Za-z0-9_-]{78}$/);
      }),
    );
  });

  it('has an id that no other token has', () => {
    always(
      fc.property(accessRecord, accessRecord, (one, other) => {
        const same =
          one.kind === 'client'
            ? other.kind === 'client' && one.id === other.id
            : other.kind === 'user' && one.grantId === other.grantId && one.generation === other.generation;
        return (accessTokenId(one) === accessTokenId(other)) === same;
      }),
    );
  });
});
