import { isUnsafeText } from './form.js';
import { isUrl } from '../config/is-url.js';

// What a request's headers may hold: a longer one could not be asked for.
const MAX_LENGTH = 16_384;

/** A path of this service that a form may lead back to; anything else, such as another host, is ignored. */
export function safeReturnTo(value: string | undefined): string | undefined {
  if (value === undefined || value.length > MAX_LENGTH || !/^\/(?![/\\])/.test(value)) return undefined;
  if (isUnsafeText(value) || /[\\\s]/.test(value)) return undefined;
  const here = 'http://here.invalid';
  if (!isUrl(value, here)) return undefined;
  const url = new URL(value, here);
  if (url.origin !== here || url.pathname.startsWith('//')) return undefined;
  const path = url.pathname + url.search;
  // Letters beyond ASCII have become longer.
  return path.length > MAX_LENGTH ? undefined : path;
}
