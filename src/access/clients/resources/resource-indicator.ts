import { isUrl } from '#platform/config/is-url.js';

/** A token carries the indicators that it is for, so they are short and few ({@link RESOURCES_MAX}). */
export const RESOURCE_INDICATOR_MAX = 250;

/** The maximum number of resources of one token: with the longest indicators it still fits into 2,048 characters. */
export const RESOURCES_MAX = 5;

// RFC 3986 §4.3 without anything that a list separated by spaces, or a header, would have to escape.
const ABSOLUTE_URI = /^[a-z][a-z\d+.-]*:[\w\-.~:/?[\]@!$&'()*+,;=%]+$/i;
const WITH_EMPTY_PATH = /^[a-z][a-z\d+.-]*:\/\/[^/?]+\/$/i;

/** RFC 8707 §2: an absolute URI without a fragment. */
export const isResourceIndicator = (text: string): boolean =>
  text.length <= RESOURCE_INDICATOR_MAX && ABSOLUTE_URI.test(text) && isUrl(text);

/** An empty path and `/` are the same (RFC 3986 §6.2.3); clients of MCP write the slash. Everything else is compared as it is. */
export const canonicalResource = (uri: string): string =>
  WITH_EMPTY_PATH.test(uri) ? uri.slice(0, -1) : uri;
