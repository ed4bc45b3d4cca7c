import type { Form } from '#platform/http/forms/form.js';

/** The parameters of OAuth requests. Others are ignored (RFC 6749 §3.1, §3.2), however often they are sent. */
const NAMES = [
  ...['response_type', 'response_mode', 'client_id', 'client_secret', 'redirect_uri', 'scope', 'state'],
  ...['grant_type', 'code', 'code_verifier', 'code_challenge', 'code_challenge_method', 'refresh_token'],
  ...['token', 'token_type_hint', 'user_id', 'client_assertion', 'client_assertion_type', 'request_uri'],
  ...['dpop_jkt', 'acr_values', 'max_age'],
];

/** Says which of our parameters was sent more than once (RFC 6749 §3.1, §3.2); undefined if none was. */
export function repeatedParameter(form: Form): string | undefined {
  const name = NAMES.find((each) => form.isRepeated(each));
  return name === undefined ? undefined : `The parameter ${name} was sent more than once.`;
}
