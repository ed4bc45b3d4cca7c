import fc from 'fast-check';
import { BlockList, isIPv4 } from 'node:net';
import { retryAfterMs, textOfBody } from '#events/webhooks/http/response-parts.js';
import { isPublicAddress } from '#events/webhooks/http/address-rules.js';
import { apiWords } from '#platform/http/problems/violation.js';
import { checkEndpointUrl } from '#events/webhooks/http/endpoint-url.js';
import { connectFailure, requestFailure } from '#events/webhooks/http/failure-of-error.js';
import { ResponseStart } from '#events/webhooks/http/response-start.js';
import { inUtc, payloadOf } from '#events/webhooks/events/event.js';
import { holdsExactNumbers } from '#events/webhooks/events/exact-numbers.js';
import { headerText, oddText, urlText } from './support/odd-text.js';
import { always } from './support/runs.js';

/** Special-purpose addresses (IANA), as classified by an independent implementation. */
const internal = new BlockList();
for (const [network, bits] of [
  ...([
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
  ] as const),
  ...([
    ['172.16.0.0', 12],
    ['192.0.2.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
  ] as const),
  ...([
    ['203.0.113.0', 24],
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
  ] as const),
])
  internal.addSubnet(network, bits, 'ipv4');

const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
const internalOctets = fc
  .oneof(
    fc.tuple(fc.constantFrom(0, 10, 127, 240, 255), fc.nat(255), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(169), fc.constant(254), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(192), fc.constant(168), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), fc.nat(255), fc.nat(255)),
  )
  .map((each) => each as [number, number, number, number]);

type Octets = [number, number, number, number];
const numberOf = ([a, b, c, d]: Octets): number => ((a * 256 + b) * 256 + c) * 256 + d;
const hex = (n: number): string => n.toString(16);
/** The ways in which browsers, resolvers and people write an IPv4 address. */
const SPELLINGS: ((o: Octets) => string)[] = [
  (o) => o.join('.'),
  (o) => String(numberOf(o)),
  (o) => `0x${hex(numberOf(o))}`,
  (o) => `0${numberOf(o).toString(8)}`,
  (o) => o.map((n) => `0x${hex(n)}`).join('.'),
  (o) => o.map((n) => `0${n.toString(8)}`).join('.'),
  ([a, b, c, d]) => `${a}.${b}.${c * 256 + d}`,
  ([a, b, c, d]) => `${a}.${(b * 256 + c) * 256 + d}`,
  (o) => `${o.join('.')}.`,
  (o) => o.join('%2e'),
  (o) => o.join('。'),
  (o) =>
    [...o.join('.')]
      .map((each) => (/\d/.test(each) ? String.fromCodePoint(0xff10 + Number(each)) : each))
      .join(''),
  (o) => `[::ffff:${o.join('.')}]`,
  ([a, b, c, d]) => `[::FFFF:${hex(a * 256 + b)}:${hex(c * 256 + d)}]`,
  ([a, b, c, d]) => `[0:0:0:0:0:ffff:${hex(a * 256 + b)}:${hex(c * 256 + d)}]`,
  (o) => `[::${o.join('.')}]`,
  (o) => `[64:ff9b::${o.join('.')}]`,
  ([a, b, c, d]) => `[64:ff9b:1::${hex(a * 256 + b)}:${hex(c * 256 + d)}]`,
  ([a, b, c, d]) => `[2002:${hex(a * 256 + b)}:${hex(c * 256 + d)}::1]`,
  ([a, b, c, d]) =>
    `[2001:0:4136:e378:8000:63bf:${hex((a * 256 + b) ^ 0xffff)}:${hex((c * 256 + d) ^ 0xffff)}]`,
  ([a, b, c, d]) => `[fe80::${hex(a * 256 + b)}:${hex(c * 256 + d)}]`,
];

describe('The URL of an endpoint', () => {
  const url = fc
    .tuple(
      fc.constantFrom('https://', 'HTTPS://', 'http://', ''),
      fc.oneof(
        urlText(),
        oddText(),
        fc.constantFrom('a.example', '8.8.8.8', 'xn--ls8h.example', 'ä.example'),
      ),
      fc.constantFrom('', ':443', ':8443', ':0', ':x'),
      fc.oneof(urlText(), fc.constantFrom('/', '/a?b=c', '#x')),
    )
    .map((parts) => parts.join(''));
  const either = fc.boolean();

  it('stays the same when it is validated again, and consists only of scheme, host, port, path and query', () => {
    always(
      fc.property(url, either, (text, allowPrivateAddresses) => {
        const { url: taken, reason } = checkEndpointUrl(text, { allowPrivateAddresses });
        if (taken === undefined) return apiWords(reason).startsWith('must ');
        const { username, password, hash, protocol } = new URL(taken);
        return (
          checkEndpointUrl(taken, { allowPrivateAddresses }).url === taken &&
          username + password + hash === '' &&
          (protocol === 'https:' || allowPrivateAddresses)
        );
      }),
    );
  });

  it('never names an internal address, however it is written', () => {
    const spelt = fc.tuple(internalOctets, fc.constantFrom(...SPELLINGS)).map(([o, spell]) => spell(o));
    always(
      fc.property(
        spelt,
        fc.constantFrom('', ':443', ':8443'),
        fc.constantFrom('', '/', '/a?b'),
        (host, port, path) => {
          const text = `https://${host}${port}${path}`;
          return checkEndpointUrl(text, { allowPrivateAddresses: false }).url === undefined;
        },
      ),
    );
  });

  it('is only accepted with an address that an independent implementation also classifies as public', () => {
    always(
      fc.property(octets, fc.constantFrom(...SPELLINGS), (o, spell) => {
        const { url: taken } = checkEndpointUrl(`https://${spell(o)}/`, { allowPrivateAddresses: false });
        if (taken === undefined) return true;
        const { hostname } = new URL(taken);
        return (
          isIPv4(hostname) &&
          hostname === o.join('.') &&
          !internal.check(hostname) &&
          isPublicAddress(hostname)
        );
      }),
    );
  });
});

describe('The answer of a receiver', () => {
  const retryAfter = fc.oneof(
    headerText(),
    fc.integer().map(String),
    fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
    fc.constantFrom(
      '9'.repeat(400),
      '1e3',
      'Sun',
      'Sun, 06 Nov 1994 08:49:37 GMT',
      'Sunday, 06-Nov-94 08:49:37 GMT',
      'Sun Nov  6 08:49:37 1994',
    ),
  );

  it('can request a delay of at most a day, or has no effect', () => {
    always(
      fc.property(fc.oneof(retryAfter, fc.array(retryAfter, { maxLength: 3 })), fc.nat(), (header, now) => {
        const wait = retryAfterMs(header, now);
        return wait === undefined || (Number.isFinite(wait) && wait >= 0 && wait <= 86_400_000);
      }),
    );
  });

  it('is stored as text that the database accepts', () => {
    always(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const text = textOfBody(Buffer.from(bytes));
        return text.isWellFormed() && !text.includes('\0');
      }),
    );
  });

  it('is read the same with interim responses before it, in whatever pieces it arrives', () => {
    const interim = fc.constantFrom(
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.0 100 \r\n\r\n',
      'HTTP/1.1 102 Processing\r\nx-a: b\r\n\r\n',
      'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLink: </b>\r\n\r\n\r\n',
      'HTTP/1.1 199 ?\nx: y\n\n',
    );
    const final = 'HTTP/1.1 200 OK\r\nContent-Length: 29\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nbody';
    always(
      fc.property(
        fc.array(interim, { maxLength: 10 }),
        fc.array(fc.nat(400), { maxLength: 30 }),
        (before, cuts) => {
          const start = new ResponseStart();
          const bytes = Buffer.from([...before, final].join(''), 'latin1');
          const places = [...new Set([0, ...cuts, bytes.length])].sort((one, other) => one - other);
          const read = places
            .slice(1)
            .map((end, index) => start.passOn(bytes.subarray(places[index], end))?.toString('latin1') ?? '');
          return read.join('') === final;
        },
      ),
    );
  });

  it('that never arrives is classified as a kind of failure, without names and addresses in its text', () => {
    const error = fc
      .tuple(
        fc.oneof(
          oddText(),
          fc.constantFrom(
            'ECONNRESET',
            'ERR_TLS_X',
            'UND_ERR_SOCKET',
            'CERT_HAS_EXPIRED',
            'toString',
            '__proto__',
          ),
        ),
        oddText(),
      )
      .map(([code, message]) => Object.assign(new Error(`secret.example ${message}`), { code }));
    always(
      fc.property(error, fc.boolean(), fc.boolean(), (each, isFirst, certificateAsked) => {
        const at = { stage: isFirst ? 'tcp' : 'tls', certificateAsked } as const;
        const failures = [
          connectFailure(each, at),
          connectFailure(new AggregateError([each]), at),
          requestFailure(each, { answerBegan: isFirst, certificateAsked }),
        ];
        return failures.every(
          ({ failure, detail }) =>
            ['connection', 'timeout', 'tls', 'http'].includes(failure) &&
            typeof detail === 'string' &&
            /^[A-Z].*\.$/.test(detail) &&
            !detail.includes('secret'),
        );
      }),
    );
  });
});

describe('An event', () => {
  it('is delivered as the same JSON, with numbers that every parser reads the same way', () => {
    always(
      fc.property(fc.jsonValue(), oddText(), (data, type) => {
        const content = { type, timestamp: '2026-01-01T00:00:00Z', userId: 'user1', data: { data } };
        const payload = JSON.parse(payloadOf('evnt1', content)) as { data: { data: unknown } };
        const isExact = holdsExactNumbers(JSON.stringify(content), 'data');
        return !isExact || JSON.stringify(payload.data.data) === JSON.stringify(data);
      }),
    );
  });

  const isExact = (data: string): boolean => holdsExactNumbers(`{"data":${data}}`, 'data');
  const double = () => fc.oneof(fc.double({ noDefaultInfinity: true, noNaN: true }), fc.maxSafeInteger());
  const isSafe = (value: number): boolean => !Number.isInteger(value) || Number.isSafeInteger(value);

  it('may hold every number that JSON.stringify writes, but no integer beyond those that are distinct', () => {
    always(
      fc.property(fc.array(fc.tuple(oddText(), double())), (numbers) => {
        const data = JSON.stringify(numbers);
        return isExact(data) === numbers.every(([, value]) => isSafe(value));
      }),
    );
  });

  it('may hold the same numbers in other writings', () => {
    const digits = fc.integer({ min: 0, max: 999_999_999_999_999 });
    always(
      fc.property(digits, fc.nat(15), fc.nat(30), fc.boolean(), (value, places, zeros, isNegative) => {
        const sign = isNegative ? '-' : '';
        const more = '0'.repeat(zeros);
        const writings = [
          `${sign}${value}.0${more}e-${places}`,
          `${sign}${value}E-${more}${places}`,
          `${sign}0.${more}${value}e+${String(value).length + zeros - places}`.replace('+-', '-'),
        ];
        return writings.every((writing) => isExact(`[${writing}]`));
      }),
    );
  });

  it('may hold no number with digits that a reader loses', () => {
    const whole = fc.maxSafeInteger().filter((value) => value !== 0);
    const number = fc.tuple(whole, fc.nat({ max: 999_999 }), fc.integer({ min: 1, max: 9 }));
    always(
      fc.property(number, fc.jsonValue(), ([units, fraction, last], other) => {
        const longer = `${units}.${String(fraction).padStart(6, '0')}${'0'.repeat(14)}${last}`;
        return !isExact(`{"a":${JSON.stringify(other)},"b":[${longer}]}`);
      }),
    );
  });

  it('has its time in UTC, at the same moment', () => {
    const given = fc
      .tuple(
        fc.date({ min: new Date('0002-01-01'), max: new Date('9998-12-31'), noInvalidDate: true }),
        fc.constantFrom('Z', '+00:00', '-11:30', '+14:00'),
      )
      .map(([date, offset]) => `${date.toISOString().slice(0, 19)}${offset}`);
    always(
      fc.property(given, (time) => /T.*Z$/.test(inUtc(time)) && Date.parse(inUtc(time)) === Date.parse(time)),
    );
  });
});
