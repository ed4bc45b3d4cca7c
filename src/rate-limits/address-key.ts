import ipaddr from 'ipaddr.js';

// A subscriber has a whole IPv6 network of this size: counting single addresses would count nobody.
const IPV6_PREFIX_BYTES = 8;

/** The counter's key of a network address: IPv4 whole (also inside IPv6), IPv6 by its /64. */
export function addressKey(address: string): string {
  if (!ipaddr.isValid(address)) return 'address:unknown';
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return `address:${parsed.toString()}`;
  return `address:${Buffer.from(parsed.toByteArray().slice(0, IPV6_PREFIX_BYTES)).toString('hex')}`;
}
