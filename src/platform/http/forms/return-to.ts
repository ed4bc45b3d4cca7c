import { isUnsafeText } from './form.js';
import { isUrl } from '#platform/config/is-url.js';

// The limit of request headers: a longer path could not be requested.
const MAX_LENGTH = 16_384;

/** Where a login without a return path leads. */
export const AFTER_LOGIN = '/account';

/** The path of a page that then redirects to `returnTo`, if there is one. */
export const withReturnTo = (path: string, returnTo: string | undefined): string =>
  returnTo === undefined ? path : `${path}?${new URLSearchParams({ return_to: returnTo }).toString()}`;

/** A path of this service to return to after a form; anything else, such as another host, is ignored. */
export function safeReturnTo(value: string | undefined): string | undefined {
  if (value === undefined || value.length > MAX_LENGTH || !/^\/(?![/\\])/.test(value)) return undefined;
  if (isUnsafeText(value) || /\s|^[^?#]*\\/.test(value)) return undefined;
  const here = 'http://here.invalid';
  if (!isUrl(value, here)) return undefined;
  const url = new URL(value, here);
  if (url.origin !== here || url.pathname.startsWith('//')) return undefined;
  // Browsers leave a backslash in a query as it is.
  const path = url.pathname + url.search.replaceAll('\\', '%5C');
  // Encoding non-ASCII characters makes the path longer.
  return path.length > MAX_LENGTH ? undefined : path;
}
