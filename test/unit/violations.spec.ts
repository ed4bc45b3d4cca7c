import { readdirSync, readFileSync } from 'node:fs';
import { fieldErrorText } from '#platform/http/problems/field-error-text.js';
import { API_WORDS, apiWords, SHARED_WORDS, violation } from '#platform/http/problems/violation.js';
import { API_WORDS as TERMS_OF_THE_API } from '../support/plain-words.js';

/** Each code with words of its own for pages, and what API and pages say. */
const WORDS: [ReturnType<typeof violation>, api: string, page: string][] = [
  [
    violation('text', { min: 0, max: 2000 }),
    'must be a string of 0 to 2000 characters',
    'enter at most 2,000 characters',
  ],
  [
    violation('visible_text', { min: 1, max: 100 }),
    'must be a string of 1 to 100 characters, not only spaces',
    'enter 1 to 100 characters',
  ],
  [
    violation('search', { max: 200, least: 3 }),
    'must be a string of up to 200 characters, with at least 3 letters or digits',
    'enter at least 3 letters or digits',
  ],
  [
    violation('email'),
    'must be a valid email address of at most 254 characters',
    'enter an email address, such as name@mail.example',
  ],
  [
    violation('whole_number', { min: 1, max: 6000, orNull: true }),
    'must be a whole number from 1 to 6000, or null',
    'enter a whole number from 1 to 6,000, or nothing',
  ],
  [violation('one_of', { values: ['a', 'b'] }), 'must be one of: a, b', 'choose one of these'],
  [
    violation('message_id'),
    'must be ERR followed by 1 to 10 digits',
    'enter ERR followed by 1 to 10 digits, such as ERR1234',
  ],
  [
    violation('web_address'),
    'must be an https or http URL of at most 2000 characters',
    'enter a URL that begins with https:// or http://',
  ],
  [
    violation('https_address'),
    'must be an https URL of at most 2000 characters, without a user name',
    'enter a URL that begins with https://',
  ],
  [
    violation('id', { what: 'webhook endpoint', prefix: 'endp' }),
    'must be the id of a webhook endpoint',
    'this is not the ID of a webhook endpoint, which is endp followed by 26 letters and digits',
  ],
  [violation('unknown_id', { what: 'user' }), 'is not the id of a user', 'no user has this ID'],
  [
    violation('time'),
    'must be a date and time with seconds and Z or an offset, such as 2026-01-31T08:00:00Z (RFC 3339)',
    'enter a date and time, such as 2026-01-31T08:00:00Z',
  ],
  [
    violation('time_or_day'),
    'must be a date, or a date and time with Z or an offset, such as 2026-01-31T08:00Z',
    'enter a date, such as 2026-01-31, or a date and time, such as 2026-01-31T08:00Z',
  ],
  [
    violation('objects', { min: 1, max: 300 }),
    'must be a list of 1 to 300 objects',
    'enter 1 to 300 of these',
  ],
  [violation('json_object'), 'must be a JSON object', 'enter a JSON object, such as {"id": "…"}'],
  [
    violation('name', { characters: 'a-z and _' }),
    'must be 1 to 64 of the characters a-z and _',
    'enter 1 to 64 of the characters a-z and _',
  ],
  [
    violation('reserved_name', { reserved: 'batch' }),
    'must not be batch, which the service uses itself',
    'choose another name than batch, which the service uses itself',
  ],
  [
    violation('scope_names', { min: 1, max: 20 }),
    'must be a list of 1 to 20 different scope names',
    'choose 1 to 20 of these',
  ],
  [
    violation('grant_types', { values: ['a', 'b'] }),
    'must be a list of one or more of a, b, each once',
    'choose at least one of these',
  ],
  [
    violation('event_types'),
    'must be a list of one or more event types, each once',
    'choose at least one of these',
  ],
  [violation('no_event_type'), 'must contain at least one event type', 'choose at least one of these'],
  [
    violation('redirect_uris', { max: 20 }),
    'must be a list of at most 20 different URIs',
    'enter at most 20 URIs, each once',
  ],
  [
    violation('resource_indicators', { max: 20, length: 250 }),
    'must be a list of at most 20 different absolute URIs without a fragment, of at most 250 characters each',
    'enter at most 20 addresses, each once, such as https://data.example.com, without #',
  ],
  [
    violation('needless_resource_indicators', { scope: 'token:introspect' }),
    'only a client with token:introspect stands for resources',
    'only a client with token:introspect can have these',
  ],
  [
    violation('purpose_names', { max: 10 }),
    'must be a list of at most 10 different names of purposes',
    'choose at most 10 of these',
  ],
  [
    violation('no_redirect_uri'),
    'must contain at least one URI for authorization_code',
    'enter at least one URI: users are redirected to it',
  ],
  [
    violation('refresh_without_code'),
    'refresh_token requires authorization_code',
    'refresh tokens require “Authorization code”: choose that too',
  ],
  [
    violation('public_without_secret'),
    'a public client cannot authenticate, so it cannot use client_credentials',
    'a public client has no secret, so it cannot use client credentials',
  ],
  [
    violation('only_client_credentials', { scope: 'admin:read' }),
    'a client with admin:read may use only client_credentials',
    'a client with admin:read can only use client credentials: choose only that',
  ],
  [violation('unknown_purpose', { place: 2 }), 'purpose 2 is not in the catalogue', 'choose from these'],
  [violation('unknown_scope', { place: 2 }), 'scope 2 is not in the catalogue', 'choose from these'],
  [
    violation('not_grantable_scope', { place: 2 }),
    "scope 2 must be one of the client's scopes that users can grant",
    'choose from these',
  ],
  [
    violation('unknown_event_type', { place: 2 }),
    'type 2 is not in the event catalogue',
    'choose from these',
  ],
];

describe('A violation', () => {
  it.each(WORDS)('has words for the API and other words for pages: %j', (found, api, page) => {
    expect([apiWords(found), fieldErrorText({ a: [found] })]).toEqual([api, { a: [page] }]);
    expect(page).not.toMatch(TERMS_OF_THE_API);
  });

  it('is listed here with its words for pages if they differ', () => {
    const own = Object.keys(API_WORDS).filter((code) => !Object.hasOwn(SHARED_WORDS, code));
    expect(WORDS.map(([{ code }]) => code).sort()).toEqual(own.sort());
  });

  it('is said once on a page', () => {
    const found = [violation('unknown_scope', { place: 1 }), violation('unknown_scope', { place: 2 })];
    expect(fieldErrorText({ scopes: found })).toEqual({ scopes: ['choose from these'] });
  });

  it('is recognized by its code, never by its words: nothing in src looks for the beginning of a sentence', () => {
    const looksForWords =
      /(?:\/\^?|(?:startsWith|includes|replace|split)\(['"`]|[!=]== ['"`])(?:must|is|are|has|cannot) [a-z]/;
    expect(['/^must be x/', "text.startsWith('is not')"].every((code) => looksForWords.test(code))).toBe(
      true,
    );
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((file) =>
      /\.tsx?$/.test(file),
    );
    expect(files.filter((file) => looksForWords.test(readFileSync(`src/${file}`, 'utf8')))).toEqual([]);
  });
});
