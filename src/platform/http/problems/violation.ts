interface Size {
  min: number;
  max: number;
}

const ON_YOUR_OWN_MACHINE =
  'On your own machine, receive events with “charging-data listen”: /docs/guides/webhooks';

/** What is wrong with a public key of a client. */
export const REFUSED_KEYS = {
  private: 'must be a public key: it has private members. Consider it as known to others, and make a new one',
  unsuitable:
    'must be a key for PS256, ES256 or EdDSA: RSA of 2048 to 8192 bits, EC with P-256, or Ed25519, for signatures',
};

const KIND_WORDS: Record<string, string> = {
  text: 'a text',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
};
const kindWords = (kinds: readonly string[]): string =>
  kinds.map((kind) => KIND_WORDS[kind] ?? kind).join(' or ');

/**
 * Why a member is refused, by code: the words that the API and the pages share, to follow the member's name. A code whose words are
 * about members, lists or null is in API_WORDS, so that it needs other words for pages.
 */
export const SHARED_WORDS = {
  unknown_member: () => 'is not a known member',
  hidden_character: ({ character }: { character: string }) =>
    `must not contain control, bidirectional or invisible characters, such as ${character}`,
  too_long: ({ max }: { max: number }) => `must have at most ${max} characters`,
  empty: () => 'must not be empty',
  not_true_or_false: () => 'must be true or false',
  fixed: ({ what }: { what: string }) => `cannot be changed after the ${what} was created`,
  not_in_list: () => 'must be the id of a list member',
  has_user_name: () => 'must not contain a user name or password',

  refused_redirect_uri: ({ place, reason }: { place: number; reason: Violation }): string =>
    `URI ${place} ${apiWords(reason)}`,
  not_plain_ascii: () => 'must be a plain ASCII URI without spaces',
  has_wildcard: () => 'must not contain a wildcard',
  has_fragment: () => 'must not have a fragment',
  not_absolute: () => 'must be an absolute URI',
  no_host: () => 'must have a host',
  not_https: () => 'must be https; http is allowed only for loopback addresses (http://127.0.0.1/…)',
  not_https_or_loopback: () => 'must be https, or http on a loopback address',
  scheme_without_dot: () => 'must have a scheme with a dot in it, such as com.example.app:/callback',

  sandbox_and_scope: ({ scope }: { scope: string }) => `a client in a sandbox must not hold ${scope}`,
  in_the_future: () => 'must not be in the future',
  in_the_past: () => 'must be in the future',
  taken_name: () => 'must be a new name: this one is taken',
  same_words: () => 'is only for another description',
  words_of_operators: () => 'is only for a scope that users agree to',
  not_of_the_client: ({ place }: { place: number }) =>
    `scope ${place} is not one of the scopes of the client`,
  needless_company_service: () => 'is only for a client with operator scopes',
  missing_company_service: () =>
    'must be true for a client with operator scopes whose owner is not an operator',
  scope_of_confidential: ({ scope }: { scope: string }) => `${scope} requires a confidential client`,
  not_for_public_client: () => 'is not for a public client, which cannot authenticate',
  only_for_public_client: () => 'none is only for a public client',
  no_keys: () => 'private_key_jwt requires keys: enter them, or the address where they are',
  keys_and_address: () => 'must not be there together with keys: enter one of them',
  required_by_profile: () =>
    'does not fit the security profile, which requires a confidential client with private_key_jwt, PKCE, pushed requests and DPoP',
  jwk_set: ({ max }: { max: number }) =>
    `must be a JWK Set: an object with keys, a list of 1 to ${max} public keys with different kid`,
  refused_key: ({ place, why }: { place: number; why: keyof typeof REFUSED_KEYS }) =>
    `key ${place} ${REFUSED_KEYS[why]}`,
  not_live_user: () => 'is not the id of a live user',
  driver: () => 'is a driver of a sandbox',
  fixed_for_driver: () => 'cannot be changed for a driver of a sandbox',
  not_operator: () => 'is only for users with the role operator',
  unknown_user: () => 'No user has this email or ID',

  odd_endpoint_url: () => 'must not contain spaces, backslashes or invisible characters',
  not_https_host: () => 'must start with https:// and a host name',
  endpoint_url_with_fragment: () => 'must not have a fragment (#…)',
  invalid_url: () => 'must be a valid URL with a valid host',
  internal_address: () =>
    `must not point to an internal address: the host must be on the public internet. ${ON_YOUR_OWN_MACHINE}`,
  internal_name: () =>
    `must not point to an internal name: the host must be on the public internet. ${ON_YOUR_OWN_MACHINE}`,
  resolves_to_internal_address: () =>
    `must not point to an internal address: the host has one that is not on the public internet. ${ON_YOUR_OWN_MACHINE}`,
  unresolvable_host: ({ why }: { why: string }) => `must have a host that can be resolved. ${why}`,
  type_needs_scope: ({ type, scope }: { type: string; scope: string }) =>
    `${type} requires the scope ${scope}, which this client does not have`,
  too_many_headers: ({ max }: { max: number }) => `must have at most ${max} headers`,
  repeated_header: () => 'must name each header once',
  header_name: ({ place, max }: { place: number; max: number }) =>
    `header ${place} must have a name of 1 to ${max} letters, digits and characters such as “-”`,
  reserved_header: ({ name }: { name: string }) => `${name} cannot be used: requests have it already`,
  header_value: ({ name, max }: { name: string; max: number }) =>
    `the value of ${name} must be 1 to ${max} visible ASCII characters, with spaces only between them`,
  missing_header_value: ({ name }: { name: string }) =>
    `the value of ${name} must be entered: no earlier value to keep`,
  header_line: ({ line }: { line: number }) => `line ${line} must be a name, a colon and a value`,
  header_with_authentication: () =>
    'authorization cannot be used together with the authentication of the endpoint: remove one of them',
  visible_ascii: ({ max }: { max: number }) =>
    `must be 1 to ${max} visible ASCII characters, with spaces only between them`,
  scope_text: ({ max }: { max: number }) =>
    `must be names of scopes with one space between them, of at most ${max} characters together`,
  missing_client_secret: () => 'must be entered: there is none yet for this token endpoint and client ID',
  signature_versions: () => 'must be a list of v1, v1a or both, each once',
  filters: ({ max }: { max: number }) =>
    `must be a list of at most ${max} conditions, each with path, operator and value`,
  filters_too_long: ({ max }: { max: number }) => `must have at most ${max} characters as JSON`,
  filter_path_form: () => 'must be names of members with dots between them, such as data.id',
  filter_path: ({ paths, more }: { paths: readonly string[]; more: number }) =>
    `is in no event of these types: there is ${paths.join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
  filter_operator: ({
    operator,
    path,
    kinds,
  }: {
    operator: string;
    path: string;
    kinds: readonly string[];
  }) => `${operator} is not for ${path}, which is ${kindWords(kinds)}`,
  filter_value: ({ kinds }: { kinds: readonly string[] }) => `must be ${kindWords(kinds)}`,
  filter_values: ({ max, kinds }: { max: number; kinds: readonly string[] }) =>
    `must be a list of 1 to ${max} values, each ${kindWords(kinds)}`,
  scalar: ({ items, max }: { items: number; max: number }) =>
    `must be a text of at most ${max} characters, a number, true, false or null, or a list of up to ${items} of these`,

  color: () => 'must be a colour such as #006b57',
  faint_color: ({ contrast, least }: { contrast: number; least: number }) =>
    `must be darker: its contrast with white text and with light pages is ${contrast}:1, and it must be at least ${least}:1`,
  no_image: () => 'choose a file',
  unreadable_image: () => 'must be a PNG, JPEG or WebP image that can be read',
  moving_image: () => 'must be a still image',
  large_image: ({ max }: { max: string }) => `must not be larger than ${max}`,
  many_pixels: ({ max }: { max: number }) => `must not be wider or higher than ${max} pixels`,

  next_version: ({ next }: { next: number }) => `must be ${next}: versions count up`,
  fewer_versions: ({ count }: { count: number }) =>
    `must have the ${count} versions that there are: none is removed`,
  no_id_in_sample: ({ pointer }: { pointer: string }) => `must have an id at ${pointer}`,
  resource_without_id: () => 'must lead to an id in the sample',
  not_partner_scope: () => 'must be a scope for partners',
  sample_of_draft: () => 'is only for a version that is not a draft',
  refused_schema: ({ why }: { why: string }) => why,
  breaks_schema: ({ why }: { why: string }) => why,
  does_not_fit: ({ place, why }: { place: string; why: string }) => `does not fit: ${place} ${why}`,
  type_without_version: () => 'has no version that can be published',
  not_publishable_version: () => 'is not a version of this event type that can be published',
  not_publishable_type: () => 'is not an event type that services publish',
  not_receivable_type: () => 'is not an event type that this client may receive',
  inexact_number: () => 'must not contain a number that is too large to be exact: send it as a string',
  selection: ({ max }: { max: number }) => `must be 1 to ${max} deliveries`,
  seconds: ({ min, max }: Size) => `must be a whole number of seconds from ${min} to ${max}`,
  feed_place: () => 'must be the id of an event, latest, or what a Link holds',
  not_kept: () => 'is not an event that is kept, nor a place in the feed: begin without it',
  feed_restored: () => 'is ahead of the feed, which was restored to an earlier time: begin without it',
  speed: ({ values }: { values: readonly number[] }) => `must be one of ${values.join(', ')}`,
  refresh_count: () => 'must be 1 for refresh',
  day: () => 'must be a date, such as 2026-01-31',
  day_range: () => 'must be today or one of the two days before, in UTC',
  batch_id: () => 'must be 1 to 64 letters, digits and the characters “.”, “_” and “-”',
};

/** What the API says of each code, in `field_errors` (contract §1). */
export const API_WORDS = {
  ...SHARED_WORDS,
  text: ({ min, max }: Size) => `must be a string of ${min} to ${max} characters`,
  visible_text: ({ min, max }: Size) => `must be a string of ${min} to ${max} characters, not only spaces`,
  search: ({ max, least }: { max: number; least: number }) =>
    `must be a string of up to ${max} characters, with at least ${least} letters or digits`,
  email: () => 'must be a valid email address of at most 254 characters',
  whole_number: ({ min, max, orNull }: Size & { orNull?: boolean }) =>
    `must be a whole number from ${min} to ${max}${orNull ? ', or null' : ''}`,
  one_of: ({ values }: { values: readonly string[] }) => `must be one of: ${values.join(', ')}`,
  message_id: () => 'must be ERR followed by 1 to 10 digits',
  web_address: () => 'must be an https or http URL of at most 2000 characters',
  https_address: () => 'must be an https URL of at most 2000 characters, without a user name',
  id: ({ what }: { what: string; prefix: string }) => `must be the id of a ${what}`,
  unknown_id: ({ what }: { what: 'user' | 'client' }) => `is not the id of a ${what}`,
  objects: ({ min, max }: Size) => `must be a list of ${min} to ${max} objects`,
  time: () =>
    'must be a date and time with seconds and Z or an offset, such as 2026-01-31T08:00:00Z (RFC 3339)',
  time_or_day: () => 'must be a date, or a date and time with Z or an offset, such as 2026-01-31T08:00Z',
  json_object: () => 'must be a JSON object',
  name: ({ characters }: { characters: string }) => `must be 1 to 64 of the characters ${characters}`,
  reserved_name: ({ reserved }: { reserved: string }) =>
    `must not be ${reserved}, which the service uses itself`,

  scope_names: ({ min, max }: Size) => `must be a list of ${min} to ${max} different scope names`,
  grant_types: ({ values }: { values: readonly string[] }) =>
    `must be a list of one or more of ${values.join(', ')}, each once`,
  event_types: () => 'must be a list of one or more event types, each once',
  no_event_type: () => 'must contain at least one event type',
  redirect_uris: ({ max }: { max: number }) => `must be a list of at most ${max} different URIs`,
  resource_indicators: ({ max, length }: { max: number; length: number }) =>
    `must be a list of at most ${max} different absolute URIs without a fragment, of at most ${length} characters each`,
  needless_resource_indicators: ({ scope }: { scope: string }) =>
    `only a client with ${scope} stands for resources`,
  no_redirect_uri: () => 'must contain at least one URI for authorization_code',
  refresh_without_code: () => 'refresh_token requires authorization_code',
  public_without_secret: () => 'a public client cannot authenticate, so it cannot use client_credentials',
  only_client_credentials: ({ scope }: { scope: string }) =>
    `a client with ${scope} may use only client_credentials`,
  purpose_names: ({ max }: { max: number }) => `must be a list of at most ${max} different names of purposes`,
  unknown_purpose: ({ place }: { place: number }) => `purpose ${place} is not in the catalogue`,
  unknown_scope: ({ place }: { place: number }) => `scope ${place} is not in the catalogue`,
  not_grantable_scope: ({ place }: { place: number }) =>
    `scope ${place} must be one of the client's scopes that users can grant`,
  unknown_event_type: ({ place }: { place: number }) => `type ${place} is not in the event catalogue`,
};

type Words = typeof API_WORDS;
type Code = keyof Words;
type Params<C extends Code> = Parameters<Words[C]>;

/** Why a member of a request is refused. Words are made of it where it is shown: `apiWords`, `fieldErrorText`. */
export interface Violation {
  readonly code: Code;
  readonly params?: object;
}

/** By the wire name of the member. */
export type Violations = Record<string, Violation[]>;

export const violation = <C extends Code>(code: C, ...[params]: Params<C>): Violation => ({ code, params });

/** Words for every code whose words are not shared. */
export type OwnWords = { [C in Exclude<Code, keyof typeof SHARED_WORDS>]: (...params: Params<C>) => string };

export function wordsBy(own: OwnWords): (violation: Violation) => string {
  const words = { ...SHARED_WORDS, ...own } as Record<Code, (params: unknown) => string>;
  return ({ code, params }) => words[code](params);
}

/** What the API says, to follow the member's name. */
export const apiWords: (violation: Violation) => string = wordsBy(API_WORDS);

/** The same for each member. */
export const apiWordsOf = (violations: Violations): Record<string, string[]> =>
  Object.fromEntries(Object.entries(violations).map(([name, each]) => [name, each.map(apiWords)]));
