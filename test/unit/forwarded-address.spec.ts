import fc from 'fast-check';
import { addressIn, callerOf } from '#platform/http/server/forwarded-address.js';
import { ANY_CHARACTER } from '../support/any-character.js';

const PROXIES = ['10.0.0.1', '10.0.0.2', '2001:db8:ffff::1'];
const caller = (forwarded: string, peer: string | undefined = '10.0.0.1'): string | undefined =>
  callerOf(peer, forwarded, (address) => PROXIES.includes(address));

describe('an element of X-Forwarded-For', () => {
  it.each([
    ['', undefined],
    ['unknown', undefined],
    ['_hidden', undefined],
    ['example.com', undefined],
    ['203.0.113.7:', undefined],
    ['203.0.113.7:123456', undefined],
    ['203.0.113.7:80:90', undefined],
    ['203.0.113', undefined],
    ['0xcb.0.113.7', undefined],
    ['3405803783', undefined],
    ['203.0.113.07', undefined],
    ['203.0.113.7%eth0', undefined],
    ['[203.0.113.7]', undefined],
    ['[2001:db8::1', undefined],
    ['[2001:db8::1]x', undefined],
    ['[]', undefined],
    ['2001:db8::1::', undefined],
    [':443', undefined],
    ['203.0.113.7', '203.0.113.7'],
    [' 203.0.113.7\t', '203.0.113.7'],
    ['203.0.113.7:567', '203.0.113.7'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:0DB8:0:0::1', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:567', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%25eth0]:80', 'fe80::1'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['[::ffff:203.0.113.7]:80', '203.0.113.7'],
  ])('that is %j is read as %j', (element, address) => expect(addressIn(element)).toBe(address));
});

describe('the caller behind X-Forwarded-For', () => {
  it.each([
    ['the peer, if it is not a trusted proxy', '203.0.113.9', '203.0.113.7', '203.0.113.9'],
    ['the address that a trusted proxy saw', '10.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['not the address that the caller claims', '10.0.0.1', '203.0.113.1, 203.0.113.7:4711', '203.0.113.7'],
    [
      'the address that the outer of two trusted proxies saw',
      '10.0.0.1',
      '203.0.113.7, 10.0.0.2',
      '203.0.113.7',
    ],
    ['found if the peer is an IPv4 address inside IPv6', '::ffff:10.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['a trusted proxy that sends its own request', '10.0.0.1', '10.0.0.2', '10.0.0.2'],
    ['the proxy, if it wrote no address', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['the proxy, if it wrote no address after a valid one', '10.0.0.1', '203.0.113.7, unknown', '10.0.0.1'],
    ['the outer proxy, if that one wrote no address', '10.0.0.1', 'x, 10.0.0.2:80', '10.0.0.2'],
    ['the proxy, if it wrote nothing', '10.0.0.1', '', '10.0.0.1'],
    ['the proxy, if the header ends with a comma', '10.0.0.1', '203.0.113.7,', '10.0.0.1'],
  ])('is %s', (_who, peer, forwarded, address) => expect(caller(forwarded, peer)).toBe(address));

  it('is unknown if the connection is gone', () => {
    expect(callerOf(undefined, '203.0.113.7', () => true)).toBeUndefined();
  });

  it('is never chosen by the caller, whose entries come before those of the proxy', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('203.0.113.7', '[2001:db8::7]:9'), (words, seen) => {
        expect(caller(`${words},${seen}`)).toBe(addressIn(seen));
      }),
    );
  });

  it('is always an address, and never a third party if a proxy wrote garbage', () => {
    fc.assert(
      fc.property(fc.string({ unit: ANY_CHARACTER }), (garbage) => {
        fc.pre(addressIn(garbage.split(',').at(-1)!) === undefined);
        expect(caller(garbage)).toBe('10.0.0.1');
      }),
    );
  });
});
