import fc from 'fast-check';
import { isPublicAddress } from '#events/webhooks/http/address-rules.js';
import { apiWords, type Violation } from '#platform/http/problems/violation.js';
import { checkEndpointAddress, checkEndpointUrl } from '#events/webhooks/http/endpoint-url.js';
import { ANY_CHARACTER } from '../support/any-character.js';
import { listOf } from '../support/list-of.js';

const wordsOf = (found: Violation | undefined): string | undefined => found && apiWords(found);

const PUBLIC_ONLY = { allowPrivateAddresses: false };
const ANY = { allowPrivateAddresses: true };

const INTERNAL = {
  'this network': ['0.0.0.0', '0.1.2.3'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  CGNAT: ['100.64.0.1', '100.127.255.254'],
  'link-local': ['169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
  'unique-local': ['fc00::1', 'fd00:ec2::254'],
  'site-local': ['fec0::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1'],
  'reserved or broadcast': ['240.0.0.1', '255.255.255.255', '192.0.0.8', '192.88.99.1'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '2001:db8::1', '3fff::1'],
  benchmarking: ['198.18.0.1', '198.19.255.255', '2001:2::1'],
  'IPv4-mapped': ['::ffff:127.0.0.1', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '::ffff:8.8.8.8'],
  'IPv4-compatible': ['::', '::127.0.0.1', '::8.8.8.8', '::7f00:1'],
  'IPv4-translated': ['::ffff:0:8.8.8.8'],
  'used only inside a cloud': ['168.63.129.16', '100.100.100.200', '192.0.0.192'],
  NAT64: ['64:ff9b::a9fe:a9fe', '64:ff9b::8.8.8.8', '64:ff9b:1::808:808', '64:ff9b:1:ffff::1'],
  '6to4': ['2002:7f00:1::1', '2002:808:808::1', '2002:a9fe:a9fe::'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  'not yet assigned': ['4000::1', '1000::1', '100::1', '5f00::1', '3ffe::1', '2001:10::1', '2001:20::1'],
};

describe('an internal address', () => {
  it.each(Object.entries(INTERNAL))('is any address that is %s', (_, addresses) => {
    for (const address of addresses) expect([address, isPublicAddress(address)]).toEqual([address, false]);
  });

  it.each([
    '',
    'x',
    'localhost',
    '1',
    '2130706433',
    '0x7f000001',
    '8.8.8',
    '08.8.8.8',
    '8.8.8.8 ',
    '::g',
    '[2606:4700::1]',
  ])('is assumed for any text that is not a plain address: %j', (text) =>
    expect(isPublicAddress(text)).toBe(false),
  );

  it('is any address that embeds an IPv4 address', () => {
    const hex = (n: number) => n.toString(16);
    fc.assert(
      fc.property(fc.nat(0xffff), fc.nat(0xffff), (high, low) =>
        [
          `::ffff:${hex(high)}:${hex(low)}`,
          `::${hex(high)}:${hex(low)}`,
          `64:ff9b::${hex(high)}:${hex(low)}`,
          `64:ff9b:1::${hex(high)}:${hex(low)}`,
          `2002:${hex(high)}:${hex(low)}::1`,
          `2001:0:${hex(high)}:${hex(low)}::1`,
        ].every((text) => !isPublicAddress(text)),
      ),
    );
  });

  it.each(
    listOf(`
    8.8.8.8, 1.1.1.1, 172.15.255.255, 172.32.0.1, 100.63.255.255, 100.128.0.1, 198.17.0.1, 223.255.255.254,
    2606:4700::1111, 2a00:1450:4001::8
  `),
  )('is not %s', (address) => expect(isPublicAddress(address)).toBe(true));
});

describe('the URL of an endpoint', () => {
  const reasonFor = (text: string) => wordsOf(checkEndpointUrl(text, PUBLIC_ONLY).reason);

  it.each(
    listOf(`
    127.0.0.1, 127.1, 2130706433, 0x7f000001, 0177.0.0.1, 0x7f.0.0.1, 127.0.0.1., [::1],
    [::ffff:169.254.169.254], [64:ff9b::a9fe:a9fe], 169.254.169.254, 0.0.0.0, 0, 100.64.0.1,
    [fd00:ec2::254], [2002:7f00:1::], １２７.0.0.1, %31%32%37.0.0.1
  `),
  )('must not point to an internal address in any spelling: %s', (host) => {
    for (const url of [`https://${host}/hook`, `https://${host}:8443`, `HTTPS://${host}?x=1`]) {
      expect(reasonFor(url)).toMatch(/^must not point to an internal address/);
      expect(checkEndpointUrl(url, ANY).reason).toBeUndefined();
    }
  });

  it.each(['127.0.0.1:4410', 'localhost:3000', '[::1]'])(
    'on this machine is refused for where it is, although it is not https either: %s',
    (host) =>
      expect(reasonFor(`http://${host}/hook`)).toMatch(
        /^must not point to an internal address.*charging-data listen/,
      ),
  );

  it.each(
    listOf(`
    localhost, LOCALHOST, localhost., api.localhost, printer.local, metadata.google.internal, nas.home.arpa,
    redis, redis.
  `),
  )('must not contain an internal name: %s', (host) => {
    expect(reasonFor(`https://${host}/`)).toMatch(/^must not point to an internal name/);
    expect(checkEndpointUrl(`https://${host}:3000/`, ANY).reason).toBeUndefined();
  });

  it.each([
    ['', /empty/],
    ['http://hooks.example/', /https/],
    ['ftp://hooks.example/', /https/],
    ['hooks.example', /https/],
    ['//hooks.example/', /https/],
    ['https:hooks.example', /https/],
    ['https:/hooks.example', /https/],
    ['https:///hooks.example', /https/],
    ['javascript:alert(1)', /https/],
    ['https://user@hooks.example/', /user name/],
    ['https://user:pass@hooks.example/', /user name/],
    ['https://@hooks.example/', /user name/],
    ['https://:@hooks.example/', /user name/],
    ['https://hooks.example@127.0.0.1/', /user name/],
    ['https://hooks.example/#', /fragment/],
    ['https://hooks.example/#part', /fragment/],
    ['https://hooks.example\\@127.0.0.1/', /backslashes/],
    [' https://hooks.example/', /spaces/],
    ['https://hooks.example/ ', /spaces/],
    ['https://hooks.example/a b', /spaces/],
    ['https://hooks.example/\n', /spaces/],
    ['https://hooks.example/\t', /spaces/],
    ['https://hooks.example/\0', /invisible/],
    ['https://hooks.example/\x7f', /invisible/],
    ['https://hooks.example/\u200b', /invisible/],
    ['https://hooks.example/\u202e', /invisible/],
    ['https://hooks.example/\ud800', /invisible/],
    ['https://', /https/],
    ['https://?', /host/],
    ['https://hooks.example:99999/', /valid/],
    ['https://hooks..example/', /valid/],
    ['https://hooks.example../', /valid/],
    ['https://-hooks.example/', /valid/],
    ['https://hooks.ex*mple/', /valid/],
    ['https://1.2.3.256/', /valid/],
    ['https://[::1/', /valid/],
    ['https://[fe80::1%25eth0]/', /valid/],
    [`https://${'x'.repeat(64)}.example/`, /valid/],
    [`https://hooks.example/${'x'.repeat(2027)}`, /2048/],
    [`https://hooks.example/${'\u00e9'.repeat(1000)}`, /2048/],
  ])('is refused with a reason: %j', (url, reason) => {
    expect(reasonFor(url)).toMatch(/^must /);
    expect(reasonFor(url)).toMatch(reason);
  });

  it.each([
    ['https://hooks.example', 'https://hooks.example/'],
    ['HTTPS://Hooks.Example:443/a/../b?x=1', 'https://hooks.example/b?x=1'],
    ['https://hooks.example.:8443/in/@me', 'https://hooks.example:8443/in/@me'],
    ['https://b\u00fccher.example/\u00e9', 'https://xn--bcher-kva.example/%C3%A9'],
    ['https://8.8.8.8/', 'https://8.8.8.8/'],
    ['https://[2606:4700::1111]/', 'https://[2606:4700::1111]/'],
    [`https://hooks.example/${'x'.repeat(2026)}`, `https://hooks.example/${'x'.repeat(2026)}`],
  ])('is accepted, and stored in its normal form: %s', (text, url) => {
    expect(checkEndpointUrl(text, PUBLIC_ONLY)).toEqual({ url });
    expect(checkEndpointUrl(url, PUBLIC_ONLY)).toEqual({ url });
  });

  it('never makes the check throw, and if accepted is https, without user info, and not an internal address', () => {
    const piece = fc.constantFrom(
      'https://',
      'http://',
      'hooks.example',
      '127.0.0.1',
      '[::1]',
      '0x7f.1',
      '@',
      ':',
      '/',
      '\\',
      '?',
      '#',
      '.',
      '%00',
      '%2e',
      '\u3002',
      'x',
      '\n',
    );
    const text = fc.oneof(
      fc.array(piece, { maxLength: 8 }).map((all) => all.join('')),
      fc.webUrl(),
      fc.string({ unit: ANY_CHARACTER }),
    );
    fc.assert(
      fc.property(text, (each) => {
        const { url } = checkEndpointUrl(each, PUBLIC_ONLY);
        if (url === undefined) return true;
        const { protocol, username, password, hostname, hash } = new URL(url);
        const isAddress = /^[\d.]+$/.test(hostname) || hostname.startsWith('[');
        return (
          protocol === 'https:' &&
          username + password + hash === '' &&
          (!isAddress || isPublicAddress(hostname.replace(/[[\]]/g, ''))) &&
          new URL(url).href === url
        );
      }),
      { numRuns: 3000 },
    );
  });
});

describe('the addresses of an endpoint’s host', () => {
  const answering = (...addresses: string[]) => ({
    ...PUBLIC_ONLY,
    lookup: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  });
  const failing = (code: string) => ({
    ...PUBLIC_ONLY,
    lookup: () => Promise.reject(Object.assign(new Error(code), { code })),
  });
  const check = async (options: Parameters<typeof checkEndpointAddress>[1], url = 'https://hooks.example/') =>
    wordsOf(await checkEndpointAddress(url, options));

  it.each([['10.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['2606:4700::1111', '8.8.8.8', '::ffff:8.8.8.8']])(
    'are refused if one is internal, without saying which one: %s %s %s',
    async (...addresses) => {
      const reason = await check(answering(...addresses.filter(Boolean)));
      expect(reason).toMatch(/^must not point to an internal address/);
      for (const address of addresses) expect(reason).not.toContain(address);
    },
  );

  it.each([
    ['ENOTFOUND', /does not exist/],
    ['ENODATA', /does not exist/],
    ['ETIMEOUT', /did not respond in time/],
    ['ESERVFAIL', /returned an error/],
  ])('are refused if the name does not resolve: %s', async (code, reason) => {
    expect(await check(failing(code))).toMatch(reason);
    expect(await check(failing(code))).toMatch(/^must have a host that can be resolved/);
  });

  it('are refused if there are none, or if there is no answer in time', async () => {
    expect(await check(answering())).toMatch(/does not exist/);
    const hanging = { ...PUBLIC_ONLY, lookup: () => new Promise<never>(() => undefined), dnsTimeoutMs: 20 };
    expect(await check(hanging)).toMatch(/did not respond in time/);
  });

  it('are accepted if all are public, or if internal ones are allowed', async () => {
    expect(await check(answering('8.8.8.8', '2606:4700::1111'))).toBeUndefined();
    expect(await check({ ...answering('10.0.0.1'), ...ANY })).toBeUndefined();
    expect(await check(failing('ENOTFOUND'), 'https://8.8.8.8/')).toBeUndefined();
    expect(await check(failing('ENOTFOUND'), 'https://[::1]/')).toMatch(/internal/);
  });
});
