import { isUnsafeText } from './form.js';
import { isUrl } from '../config/is-url.js';

/** A path of this service that a form may lead back to; anything else, such as another host, is ignored. */
export function safeReturnTo(value: string | undefined): string | undefined {
  if (value === undefined || value.length > 16_384 || !/^\/(?![/\\])/.test(value)) return undefined;
  if (isUnsafeText(value) || /[\\\s]/.test(value)) return undefined;
  const here = 'http://here.invalid';
  if (!isUrl(value, here)) return undefined;
  const url = new URL(value, here);
  return url.origin === here && !url.pathname.startsWith('//') ? url.pathname + url.search : undefined;
}
