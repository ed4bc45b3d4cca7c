export interface PageOptions {
  status?: number;
  /** Where the page's forms may lead beside this service: Chromium checks redirects after a form against this. */
  formTargets?: string[];
  /** For pages whose own address is a secret: nothing but the origin goes into a Referer. */
  hideAddress?: boolean;
  /** For pages to which a script of this service adds something: it may run, and ask this service. */
  withScript?: boolean;
}

/** Headers of every page: a Content-Security-Policy without unsafe-inline, and with few exceptions without scripts; never cached. */
export function pageHeaders(options: PageOptions = {}): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    ...(options.withScript ? ["script-src 'self'", "connect-src 'self'"] : []),
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ["form-action 'self'", ...(options.formTargets ?? [])].join(' '),
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'cache-control': 'no-store',
    ...(options.hideAddress ? { 'referrer-policy': 'strict-origin' } : {}),
  };
}
