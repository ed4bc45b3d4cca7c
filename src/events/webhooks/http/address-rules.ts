import ipaddr from 'ipaddr.js';

// What IANA has assigned for global unicast so far; mapped, translated and local addresses all lie outside of it.
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

// Not known to the library: the host service of Azure, which has a public number, and the former 6bone (RFC 3701).
const FURTHER_INTERNAL = ['168.63.129.16/32', '3ffe::/16'].map((range) => ipaddr.parseCIDR(range));

/**
 * Whether an IP address in plain textual form is a public unicast one, the only kind that is connected to (contract §10). An IPv4
 * address within IPv6 (mapped, NAT64, 6to4, Teredo) counts as internal, and so does anything that is not an address.
 */
export function isPublicAddress(text: string): boolean {
  if (text.includes('%') || !isPlainAddress(text)) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  if (address instanceof ipaddr.IPv6 && !address.match(GLOBAL_UNICAST)) return false;
  return !FURTHER_INTERNAL.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  );
}

/** The library also accepts 0x7f.1 and the like, which no resolver returns. */
const isPlainAddress = (text: string): boolean =>
  text.includes(':') ? ipaddr.IPv6.isValid(text) : ipaddr.IPv4.isValidFourPartDecimal(text);
