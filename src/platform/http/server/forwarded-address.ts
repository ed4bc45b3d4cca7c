import type { FastifyInstance } from 'fastify';
import ipaddr from 'ipaddr.js';
import { BlockList, isIP, isIPv6 } from 'node:net';

const HEADER = 'x-forwarded-for';

/** Whether an address belongs to a trusted proxy. */
export type IsTrusted = (address: string) => boolean;

/**
 * Ensures that `request.ip` is always an address. Fastify copies the text of `X-Forwarded-For`, so a port or garbage in it would
 * become the caller's address. Must run before all other hooks.
 */
export function addForwardedAddress(fastify: FastifyInstance, trustedProxies: readonly string[]): void {
  if (trustedProxies.length === 0) return;
  const isTrusted = trustOf(trustedProxies);
  fastify.addHook('onRequest', ({ raw: { headers, socket } }, _reply, done) => {
    const forwarded = headers[HEADER];
    if (typeof forwarded === 'string') headers[HEADER] = callerOf(socket.remoteAddress, forwarded, isTrusted);
    done();
  });
}

/**
 * The caller's address. Walks from the peer towards the caller for as long as a trusted proxy names the previous hop. If a
 * trusted proxy wrote something that is not an address, that proxy's own address is used: entries further left may be forged by
 * the caller and must not decide whom a request counts for.
 */
export function callerOf(
  peer: string | undefined,
  forwarded: string,
  isTrusted: IsTrusted,
): string | undefined {
  let nearest = peer === undefined ? undefined : addressIn(peer);
  const hops = forwarded.split(',');
  while (nearest !== undefined && isTrusted(nearest)) {
    const before = addressIn(hops.pop() ?? '');
    if (before === undefined) break;
    nearest = before;
  }
  return nearest;
}

/** The address in one element of the header: plain, or as balancers write it, with a port, brackets or a zone. */
export function addressIn(element: string): string | undefined {
  const text = element.trim();
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)?.[1];
  if (bracketed !== undefined) return isIPv6(bracketed) ? canonical(bracketed) : undefined;
  const address = /^([\d.]+):\d{1,5}$/.exec(text)?.[1] ?? text;
  return isIP(address) === 0 ? undefined : canonical(address);
}

/** One spelling per address; IPv4 inside IPv6 becomes IPv4. A zone is meaningless outside the host that wrote it. */
const canonical = (address: string): string => ipaddr.process(address.split('%', 1)[0]!).toString();

/** Whether an address is one of these, or in one of these networks. */
export function trustOf(proxies: readonly string[]): IsTrusted {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [network, prefix] = proxy.split('/');
    const family = isIPv6(network!) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(network!, family);
    else list.addSubnet(network!, Number(prefix), family);
  }
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
