import fc from 'fast-check';
import { addressIn, callerOf } from '../../src/http/forwarded-address.js';

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
  ])('%j means %j', (element, address) => expect(addressIn(element)).toBe(address));
});

describe('the caller behind X-Forwarded-For', () => {
  it.each([
    ['nobody but the other end, which is no proxy of ours', '203.0.113.9', '203.0.113.7', '203.0.113.9'],
    ['who a trusted proxy saw', '10.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['not who the caller says', '10.0.0.1', '203.0.113.1, 203.0.113.7:4711', '203.0.113.7'],
    ['who the outer of two trusted proxies saw', '10.0.0.1', '203.0.113.7, 10.0.0.2', '203.0.113.7'],
    ['the other end as IPv4 inside IPv6', '::ffff:10.0.0.1', '203.0.113.7', '203.0.113.7'],
    ['a trusted proxy that calls for itself', '10.0.0.1', '10.0.0.2', '10.0.0.2'],
    ['the proxy, where it wrote no address', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['the proxy, whatever is left of what it wrote', '10.0.0.1', '203.0.113.7, unknown', '10.0.0.1'],
    ['the outer proxy, where that wrote no address', '10.0.0.1', 'x, 10.0.0.2:80', '10.0.0.2'],
    ['the proxy, where it wrote nothing', '10.0.0.1', '', '10.0.0.1'],
    ['the proxy, where the header ends in a comma', '10.0.0.1', '203.0.113.7,', '10.0.0.1'],
  ])('is %s', (_who, peer, forwarded, address) => expect(caller(forwarded, peer)).toBe(address));

  it('is unknown where the connection is gone', () => {
    expect(callerOf(undefined, '203.0.113.7', () => true)).toBeUndefined();
  });

  it('is never a choice of the caller, whose words come before those of the proxy', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('203.0.113.7', '[2001:db8::7]:9'), (words, seen) => {
        expect(caller(`${words},${seen}`)).toBe(addressIn(seen));
      }),
    );
  });

  it('is always an address, and never a stranger to a proxy that wrote garbage', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (garbage) => {
        fc.pre(addressIn(garbage.split(',').at(-1)!) === undefined);
        expect(caller(garbage)).toBe('10.0.0.1');
      }),
    );
  });
});
