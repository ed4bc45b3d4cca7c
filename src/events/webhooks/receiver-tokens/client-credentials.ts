import { text, url, oneOf } from '#platform/http/api/api-schemas.js';
import { isTextOf } from '#platform/http/validation/validation.decorators.js';
import { violation, type Violation, type Violations } from '#platform/http/problems/violation.js';

const TYPE = 'client_credentials';
const ID_MAX = 255;
const SECRET_MAX = 1024;
const SCOPE_MAX = 1000;

/** Where the token for the requests to an endpoint comes from (contract §22), as it is stored and shown. */
export interface ClientCredentials {
  type: typeof TYPE;
  token_url: string;
  client_id: string;
  scope: string | null;
}

/** The same as it is given; without a secret, the present one is kept. */
export interface GivenCredentials {
  type: typeof TYPE;
  token_url: string;
  client_id: string;
  client_secret?: string | null;
  scope?: string | null;
}

/** Visible ASCII, with spaces only in between: RFC 6749 §A.1 and §A.2, without what is pasted by mistake. */
const VISIBLE_ASCII = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
/** RFC 6749 §3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

const orNone = (isValid: (value: unknown) => boolean) => (value: unknown) =>
  value === undefined || value === null || isValid(value);
const isMatching = (pattern: RegExp, max: number) => (value: unknown) =>
  typeof value === 'string' && value.length <= max && pattern.test(value);

const RULES: Record<keyof GivenCredentials, [isValid: (value: unknown) => boolean, broken: Violation]> = {
  type: [(value) => value === TYPE, violation('one_of', { values: [TYPE] })],
  token_url: [(value) => isTextOf(value, 1, 2048), violation('text', { min: 1, max: 2048 })],
  client_id: [isMatching(VISIBLE_ASCII, ID_MAX), violation('visible_ascii', { max: ID_MAX })],
  client_secret: [
    orNone(isMatching(VISIBLE_ASCII, SECRET_MAX)),
    violation('visible_ascii', { max: SECRET_MAX }),
  ],
  scope: [orNone(isMatching(SCOPE, SCOPE_MAX)), violation('scope_text', { max: SCOPE_MAX })],
};

/** What is wrong with the members, at `authentication.member`; empty if nothing is. A value is never repeated. */
export function credentialViolations(given: object | null | undefined): Violations {
  if (!given) return {};
  const values = given as Record<string, unknown>;
  const unknown = Object.keys(values).filter((name) => !Object.hasOwn(RULES, name));
  return Object.fromEntries([
    ...unknown.map((name) => [`authentication.${name}`, [violation('unknown_member')]]),
    ...Object.entries(RULES).flatMap(([name, [isValid, broken]]) =>
      isValid(values[name]) ? [] : [[`authentication.${name}`, [broken]]],
    ),
  ]) as Violations;
}

/** The members that are shown, in this order. */
export const shownCredentials = (
  { type, client_id, scope }: GivenCredentials,
  tokenUrl: string,
): ClientCredentials => ({ type, token_url: tokenUrl, client_id, scope: scope ?? null });

const SHOWN = {
  type: oneOf(TYPE),
  token_url: url('A public https URL, the token endpoint of the authorization server.'),
  client_id: text(undefined, { minLength: 1, maxLength: ID_MAX }),
  scope: { type: ['string', 'null'], maxLength: SCOPE_MAX, description: 'Names with spaces between them.' },
};
const EXAMPLE = {
  type: TYPE,
  token_url: 'https://login.example.com/oauth2/token',
  client_id: 'charging-data',
  scope: 'events.write',
};

/** The schema in answers. */
export const SHOWN_CREDENTIALS = {
  type: 'object',
  nullable: true,
  properties: SHOWN,
  required: Object.keys(SHOWN),
  description: 'Where the token of its requests comes from; null without one. Never with the secret.',
  example: EXAMPLE,
} as const;

/** The schema in bodies. */
export const GIVEN_CREDENTIALS = {
  type: 'object',
  properties: {
    ...SHOWN,
    client_secret: { type: ['string', 'null'], maxLength: SECRET_MAX, writeOnly: true },
  },
  required: ['type', 'token_url', 'client_id'],
  additionalProperties: false,
  example: { ...EXAMPLE, client_secret: 'a-secret-of-the-receiver' },
} as const;
