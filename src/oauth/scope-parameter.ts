// RFC 6749 §3.3: scope-token = 1*( %x21 / %x23-5B / %x5D-7E ), separated by single spaces.
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** The scopes that a `scope` parameter asks for, each once; undefined where it is malformed. */
export const parseScope = (text: string): string[] | undefined =>
  SCOPE.test(text) ? [...new Set(text.split(' '))] : undefined;
