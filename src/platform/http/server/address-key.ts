import ipaddr from 'ipaddr.js';
import { isIPv4 } from 'node:net';

// A subscriber has a whole IPv6 network of this size, so single addresses cannot be counted usefully.
const IPV6_PREFIX_BYTES = 8;

/** The counter key of a network address: IPv4 as a whole (also inside IPv6), IPv6 by its /64. */
export function addressKey(address: string): string {
  if (isIPv4(address)) return `address:${address}`;
  if (!ipaddr.isValid(address)) return 'address:unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return `address:${parsed.toString()}`;
  return `address:${Buffer.from(parsed.toByteArray().slice(0, IPV6_PREFIX_BYTES)).toString('hex')}`;
}
