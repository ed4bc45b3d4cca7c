import type { Form } from '#platform/http/forms/form.js';

/** The parameters of OAuth requests, which an error may name. Any other name could be markup and is not echoed. */
const NAMES = [
  ...['response_type', 'response_mode', 'client_id', 'client_secret', 'redirect_uri', 'scope', 'state'],
  ...['grant_type', 'code', 'code_verifier', 'code_challenge', 'code_challenge_method', 'refresh_token'],
  ...['token', 'token_type_hint', 'user_id', 'client_assertion', 'client_assertion_type'],
];

/** Says which parameter was sent more than once (RFC 6749 §3.1, §3.2). */
export function repeatedParameter(form: Form): string {
  const name = NAMES.find((each) => form.isRepeated(each));
  return `${name === undefined ? 'A parameter' : `The parameter ${name}`} was sent more than once.`;
}
