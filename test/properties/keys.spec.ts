import fc from 'fast-check';
import { addressKey } from '#platform/http/server/address-key.js';
import { partnerKey } from '#access/rate-limits/partners/partner-limit.js';
import { namespaceOf, storageKey } from '#access/rate-limits/store/rate-limit-store.js';
import { firstIdAt, isId, newId, type IdPrefix } from '#platform/secrets/ids.js';
import {
  digestOf,
  isSecret,
  newSecret,
  sameDigest,
  SECRET_PREFIXES,
  type SecretKind,
} from '#platform/secrets/tokens.js';
import { seal, unseal } from '#platform/secrets/sealed-box.js';
import { oddText } from './support/odd-text.js';
import { always } from './support/runs.js';

const prefixes = fc.constantFrom<IdPrefix[]>(
  'user',
  'clnt',
  'grnt',
  'audt',
  'notf',
  'sess',
  'evnt',
  'endp',
  'dlvr',
  'rcvr',
);
const kinds = fc.constantFrom(...(Object.keys(SECRET_PREFIXES) as SecretKind[]));

describe('The counter keys of a rate limit', () => {
  const key = fc.oneof(
    oddText(),
    fc.string({ unit: fc.constantFrom(...':#{}[]",\\ax\ud800\udc00'), maxLength: 8 }),
  );
  // An id is never empty and has no colon.
  const id = key.filter((text) => text !== '' && !text.includes(':'));
  const user = fc.option(id, { nil: undefined });

  it('are different for different pairs of client and user', () => {
    always(
      fc.property(id, user, id, user, (client, of, otherClient, ofOther) => {
        const [one, other] = [partnerKey(client, of), partnerKey(otherClient, ofOther)];
        const isSame = client === otherClient && of === ofOther;
        return (one === other) === isSame && (storageKey(one) === storageKey(other)) === isSame;
      }),
    );
  });

  it('are stored under different names, which are short and plain', () => {
    always(
      fc.property(key, key, fc.nat(300), (one, other, length) => {
        const [first, second] = [one.padEnd(length, 'x'), other.padEnd(length, 'x')];
        return (
          (storageKey(first) === storageKey(second)) === (first === second) &&
          /^[\w:./@|+#-]{0,100}$/.test(storageKey(first)) &&
          namespaceOf(first).length <= 32
        );
      }),
    );
  });
});

describe('The counter key of an address', () => {
  const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
  const groups = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });
  const textOf = (parts: number[]) => parts.map((part) => part.toString(16)).join(':');

  it('is the same for every form of an IPv4 address, and different for different addresses', () => {
    always(
      fc.property(octets, octets, (one, other) => {
        const [a, b, c, d] = one;
        const mapped = [
          `::ffff:${one.join('.')}`,
          `::ffff:${textOf([a * 256 + b, c * 256 + d])}`,
          `0:0:0:0:0:FFFF:${one.join('.')}`,
        ];
        const keys = mapped.map((each) => addressKey(each));
        const mine = addressKey(one.join('.'));
        return (
          keys.every((each) => each === mine) &&
          (addressKey(other.join('.')) === mine) === (one.join() === other.join())
        );
      }),
    );
  });

  it('is that of the network for IPv6', () => {
    always(
      fc.property(groups, groups, (one, other) => {
        // These two ranges contain addresses of another family.
        if (one.slice(0, 5).every((part) => part === 0)) return true;
        const neighbour = [...one.slice(0, 4), ...other.slice(4)];
        const mine = addressKey(textOf(one));
        return (
          addressKey(textOf(neighbour)) === mine &&
          (addressKey(textOf(other)) === mine) === (one.slice(0, 4).join() === other.slice(0, 4).join())
        );
      }),
    );
  });

  it('exists for any text that a proxy sends', () => {
    always(fc.property(oddText(), (text) => /^address:[\w.]+$/.test(addressKey(text))));
  });
});

describe('An id', () => {
  it('is recognised by its prefix only, and sorts after the first id of an earlier time', () => {
    always(
      fc.property(prefixes, prefixes, (prefix, other) => {
        const before = new Date(Date.now() - 1);
        const id = newId(prefix);
        return isId(prefix, id) && isId(other, id) === (prefix === other) && firstIdAt(prefix, before) < id;
      }),
    );
  });

  it('of an earlier time sorts first, and other text is not accepted as an id', () => {
    const time = fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true });
    always(
      fc.property(prefixes, time, time, oddText(), (prefix, one, other, text) => {
        const [first, second] = [firstIdAt(prefix, one), firstIdAt(prefix, other)];
        return (
          isId(prefix, first) &&
          first < second === one < other &&
          (!isId(prefix, text) || /^[0-9A-Z]{26}$/.test(text.slice(4)))
        );
      }),
    );
  });
});

describe('A secret', () => {
  it('is recognised only as its own kind, and has a digest of its own', () => {
    always(
      fc.property(kinds, kinds, (kind, other) => {
        const [one, two] = [newSecret(kind), newSecret(kind)];
        return (
          isSecret(kind, one) &&
          isSecret(other, one) === (kind === other) &&
          sameDigest(digestOf(one), digestOf(one)) &&
          !sameDigest(digestOf(one), digestOf(two))
        );
      }),
    );
  });

  it('does not match arbitrary text, even with the right prefix', () => {
    always(
      fc.property(
        kinds,
        oddText(),
        (kind, text) => !isSecret(kind, text) && !isSecret(kind, SECRET_PREFIXES[kind] + text),
      ),
    );
  });
});

describe('Sealed text', () => {
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
  const text = oddText().map((each) => each.toWellFormed());

  it('opens only with the same key and the same associated data, and not after a byte was changed', () => {
    always(
      fc.property(key, key, text, text, text, fc.nat(), (one, other, plain, data, otherData, at) => {
        const sealed = seal(one, plain, data);
        const changed = Buffer.from(sealed);
        changed[at % sealed.length]! ^= 1;
        return (
          unseal(one, sealed, data) === plain &&
          (one.equals(other) || unseal(other, sealed, data) === undefined) &&
          (data === otherData || unseal(one, sealed, otherData) === undefined) &&
          unseal(one, changed, data) === undefined &&
          unseal(one, sealed.subarray(0, at % sealed.length), data) === undefined
        );
      }),
    );
  });
});
