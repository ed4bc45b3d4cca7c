// RFC 6749 §3.3: scope-token = 1*( %x21 / %x23-5B / %x5D-7E ), separated by single spaces.
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** The scopes in a `scope` parameter, without duplicates; undefined if it is malformed. */
export const parseScope = (text: string): string[] | undefined =>
  SCOPE.test(text) ? [...new Set(text.split(' '))] : undefined;

/** The characters of scope names. A name with others could be markup and is not echoed. */
const SCOPE_NAME = /^[a-z0-9_.:-]{1,64}$/;

/** Describes a requested scope in characters that `error_description` allows (RFC 6749 §5.2). */
export const describeScope = (name: string): string =>
  SCOPE_NAME.test(name) ? `the scope ${name}` : 'a scope with an invalid name';
