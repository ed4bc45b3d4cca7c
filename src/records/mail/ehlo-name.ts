import { isIP } from 'node:net';

/** How this service calls itself to SMTP servers: by the host of its address, an IP address as a literal (RFC 5321 §4.1.3). */
export function ehloName(baseUrl: string): string {
  const host = new URL(baseUrl).hostname.replace(/^\[|\]$/g, '');
  switch (isIP(host)) {
    case 4:
      return `[${host}]`;
    case 6:
      return `[IPv6:${host}]`;
    default:
      return host;
  }
}
