import { isIP } from 'node:net';
import type { LookupAddress } from 'node:dns';

const LOOPBACK: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * The addresses of a name in the text of a hosts file, in its order; those of loopback for `localhost` and below it, if the file does
 * not say otherwise (RFC 6761 §6.3); undefined if it does not know the name.
 */
export function addressesInHostsFile(text: string, name: string): LookupAddress[] | undefined {
  const wanted = name.toLowerCase();
  const found: LookupAddress[] = [];
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family !== 0 && names.some((each) => each.toLowerCase() === wanted)) found.push({ address, family });
  }
  if (found.length > 0) return found;
  return /(^|\.)localhost$/.test(wanted) ? LOOPBACK : undefined;
}
