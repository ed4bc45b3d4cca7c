export interface PageOptions {
  status?: number;
  /**
   * Where its forms may lead outside of this service, as a source of the policy; `anywhere` where that redirects on to addresses that
   * are not known here, because Chromium applies the policy also to redirects after a form.
   */
  formTarget?: string;
  /** For pages enhanced by a script of this service: the script may run. */
  withScript?: boolean;
  /** For the page whose script adds style sheets of its own: those that carry this value, new in each response, apply. */
  styleNonce?: string;
  /** It shows what only its reader may see, at an address where others see something else. */
  isPersonal?: boolean;
}

/**
 * Headers of every page: a Content-Security-Policy without unsafe-inline and, with few exceptions, without scripts; never cached.
 */
export function pageHeaders(options: PageOptions = {}): Record<string, string> {
  const policy = [
    "default-src 'none'",
    ["style-src 'self'", ...(options.styleNonce ? [`'nonce-${options.styleNonce}'`] : [])].join(' '),
    "img-src 'self'",
    ...(options.withScript ? ["script-src 'self'"] : []),
    // Without a script: what tools read in a page's name, such as /robots.txt.
    "connect-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    ...(options.formTarget === 'anywhere'
      ? []
      : [["form-action 'self'", ...(options.formTarget ? [options.formTarget] : [])].join(' ')]),
  ];
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': policy.join('; '),
    'cache-control': options.isPersonal ? 'private, no-store' : 'no-store',
  };
}
