export interface PageOptions {
  status?: number;
  /**
   * Where its forms may redirect to outside of this service, as a source of the policy; `anywhere` if that site may redirect
   * further, because Chromium also applies the policy to redirects after a form.
   */
  formTarget?: string;
  /** For pages enhanced by a script of this service: the script may run. */
  withScript?: boolean;
  /** For pages that show another one of this service in a frame. */
  withFrame?: boolean;
  /** A nonce for the page whose script adds its own style sheets. */
  styleNonce?: string;
  /** Set for private data at a URL where other readers see something else. */
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
    ...(options.withFrame ? ["frame-src 'self'"] : []),
    // Also without scripts, because tools fetch for example /robots.txt on behalf of a page.
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
