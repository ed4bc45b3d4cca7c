/** Errors by member; under `form`, errors of the form as a whole. */
export type FieldErrors = Record<string, string[]>;

const number = (digits: string): string => Number(digits).toLocaleString('en-GB');

/** Error texts of the admin API, and the wording beside a form field. */
const MESSAGES: [RegExp, (...parts: string[]) => string][] = [
  [
    /^must be a string of 1 to (\d+) characters(?:, not only spaces)?$/,
    (max) => `enter 1 to ${number(max)} characters`,
  ],
  [
    /^must be a string of up to \d+ characters, with at least (\d+) letters or digits$/,
    (least) => `enter at least ${number(least)} letters or digits`,
  ],
  [/^must be a string of 0 to (\d+) characters$/, (max) => `enter at most ${number(max)} characters`],
  [/^must be a valid email address/, () => 'enter an email address, such as name@mail.example'],
  [
    /^must be a whole number from (\d+) to (\d+)(, or null)?$/,
    (min, max, orNull) =>
      `enter a whole number from ${number(min)} to ${number(max)}${orNull ? ', or nothing' : ''}`,
  ],
  [/^must be a JSON object$/, () => 'enter a JSON object, such as {"id": "…"}'],
  [/^must be one of: /, () => 'choose one of these'],
  [
    /^must be the id of an? (user|client|webhook endpoint)$/,
    (what) => `this is not the ID of a ${what}, which is ${PREFIXES[what]} followed by 26 letters and digits`,
  ],
  [/^is not the id of a (user|client)$/, (what) => `no ${what} has this ID`],
  [/^must be a list of 1 to (\d+) different scope names$/, (max) => `choose 1 to ${max} of these`],
  [/^must (be a list of one or more|contain at least one event type)/, () => 'choose at least one of these'],
  [/^must be a list of at most (\d+) different URIs$/, (max) => `enter at most ${max} URIs, each once`],
  [
    /^must contain at least one URI for authorization_code$/,
    () => 'enter at least one URI: users are redirected to it',
  ],
  [
    /^refresh_token requires authorization_code$/,
    () => 'refresh tokens require “Authorization code”: choose that too',
  ],
  [
    /^a public client cannot authenticate/,
    () => 'a public client has no secret, so it cannot use client credentials',
  ],
  [
    /^a client with (\S+) may use only client_credentials$/,
    (scope) => `a client with ${scope} can only use client credentials: choose only that`,
  ],
  [
    /^must be an ISO 8601 date/,
    () => 'enter a date, such as 2026-01-31, or a date and time, such as 2026-01-31T08:00Z',
  ],
  [/^must be ERR followed by/, () => 'enter ERR followed by 1 to 10 digits, such as ERR1234'],
  [/^must be an https or http URL/, () => 'enter a URL that begins with https:// or http://'],
  [/^(type|scope) \d+ (is not in|must be one of)/, () => 'choose from these'],
];

const PREFIXES: Record<string, string> = { user: 'user', client: 'clnt', 'webhook endpoint': 'endp' };

/** Rewords errors for a form: those of the admin API mention members, lists and null. */
export const formMessages = (errors: FieldErrors): FieldErrors =>
  Object.fromEntries(
    Object.entries(errors).map(([name, texts]) => [name, [...new Set(texts.map(formMessage))]]),
  );

function formMessage(text: string): string {
  for (const [pattern, message] of MESSAGES) {
    const match = pattern.exec(text);
    if (match) return message(...match.slice(1));
  }
  return text;
}
