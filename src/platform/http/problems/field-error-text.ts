import { wordsBy, type OwnWords, type Violations } from './violation.js';

const number = (value: number): string => value.toLocaleString('en-GB');
const characters = ({ min, max }: { min: number; max: number }): string =>
  min === 0 ? `enter at most ${number(max)} characters` : `enter ${number(min)} to ${number(max)} characters`;
const atLeastOne = () => 'choose at least one of these';
const oneOfThese = () => 'choose from these';

/** The error texts at form fields, which do not mention members, lists or null. */
const FIELD_ERROR_TEXT: OwnWords = {
  text: characters,
  visible_text: characters,
  search: ({ least }) => `enter at least ${number(least)} letters or digits`,
  email: () => 'enter an email address, such as name@mail.example',
  whole_number: ({ min, max, orNull }) =>
    `enter a whole number from ${number(min)} to ${number(max)}${orNull ? ', or nothing' : ''}`,
  one_of: () => 'choose one of these',
  message_id: () => 'enter ERR followed by 1 to 10 digits, such as ERR1234',
  web_address: () => 'enter a URL that begins with https:// or http://',
  https_address: () => 'enter a URL that begins with https://',
  id: ({ what, prefix }) =>
    `this is not the ID of a ${what}, which is ${prefix} followed by 26 letters and digits`,
  unknown_id: ({ what }) => `no ${what} has this ID`,
  objects: ({ min, max }) => `enter ${number(min)} to ${number(max)} of these`,
  time: () => 'enter a date and time, such as 2026-01-31T08:00:00Z',
  time_or_day: () => 'enter a date, such as 2026-01-31, or a date and time, such as 2026-01-31T08:00Z',
  json_object: () => 'enter a JSON object, such as {"id": "…"}',
  name: (params) => `enter 1 to 64 of the characters ${params.characters}`,
  reserved_name: ({ reserved }) => `choose another name than ${reserved}, which the service uses itself`,
  scope_names: ({ min, max }) =>
    min > 0 ? `choose ${min} to ${max} of these` : `enter at most ${max} scopes, each once`,
  grant_types: atLeastOne,
  event_types: atLeastOne,
  no_event_type: atLeastOne,
  redirect_uris: ({ max }) => `enter at most ${max} URIs, each once`,
  resource_indicators: ({ max }) =>
    `enter at most ${max} addresses, each once, such as https://data.example.com, without #`,
  needless_resource_indicators: ({ scope }) => `only a client with ${scope} can have these`,
  no_redirect_uri: () => 'enter at least one URI: users are redirected to it',
  refresh_without_code: () => 'refresh tokens require “Authorization code”: choose that too',
  public_without_secret: () => 'a public client has no secret, so it cannot use client credentials',
  only_client_credentials: ({ scope }) =>
    `a client with ${scope} can only use client credentials: choose only that`,
  purpose_names: ({ max }) => `choose at most ${max} of these`,
  unknown_purpose: oneOfThese,
  unknown_scope: oneOfThese,
  not_grantable_scope: oneOfThese,
  unknown_event_type: oneOfThese,
};

const textOf = wordsBy(FIELD_ERROR_TEXT);

/** The error texts at each field, without duplicates. */
export const fieldErrorText = (violations: Violations): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(violations).map(([name, each]) => [name, [...new Set(each.map(textOf))]]),
  );
