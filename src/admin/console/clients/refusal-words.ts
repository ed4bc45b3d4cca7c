import type { ActivityKind } from '../../../activity/activity.js';

/** What a refusal was, and what helps. */
export interface RefusalWords {
  status: string;
  what: string;
  help: string;
}

const token = (status: string, what: string, help: string): RefusalWords => ({ status, what, help });
const oauthError = (code: string, what: string, help: string) => token(`400 ${code}`, what, help);

const WORDS: Partial<Record<ActivityKind, Record<string, RefusalWords>>> = {
  token_refused: {
    wrong_secret: token(
      '401 invalid_client',
      'Wrong secret',
      'It sends a secret that is none of this client. Compare what is set on its side, or rotate the secret.',
    ),
    expired_secret: token(
      '401 invalid_client',
      'Expired secret',
      'It still sends a secret that was rotated and has expired. Set the new one on its side.',
    ),
    client_disabled: token('401 invalid_client', 'The client is disabled', 'Enable it, if it should work.'),
    no_secret: token(
      '401 invalid_client',
      'No secret',
      'It is a confidential client, but sends its id alone. It has to authenticate.',
    ),
    secret_of_public_client: token(
      '401 invalid_client',
      'A secret of a public client',
      'A public client has no secret and must not send one. An empty one counts as none.',
    ),
    invalid_grant: oauthError(
      'invalid_grant',
      'The code or refresh token does not work',
      'It is unknown, expired, used or revoked, or redirect URI or verifier differ. The user has to authorize it again.',
    ),
    invalid_request: oauthError(
      'invalid_request',
      'A malformed request',
      'A parameter is missing, sent twice, in the query string, or the body is no form. The answer says which.',
    ),
    invalid_scope: oauthError(
      'invalid_scope',
      'Too much was asked for',
      'It asks for a scope that it does not have, or that was not granted.',
    ),
    unauthorized_client: oauthError(
      'unauthorized_client',
      'Not registered for this grant type',
      'Change how it gets tokens, or see whether its owner is disabled.',
    ),
    unsupported_grant_type: oauthError(
      'unsupported_grant_type',
      'An unknown grant type',
      'This service knows authorization_code, client_credentials and refresh_token.',
    ),
    insufficient_scope: token(
      '403 insufficient_scope',
      'May not introspect',
      'Introspection needs the scope token:introspect.',
    ),
  },
  bearer_refused: {
    token_expired: token(
      '401',
      'Expired access token',
      'It goes on with a token past its time. It has to refresh it, or get a new one.',
    ),
    token_revoked: token(
      '401',
      'Revoked access token',
      'The token or its grant was revoked. The trail says by whom; the user has to authorize it again.',
    ),
    grant_expired: token(
      '401',
      'Expired grant',
      'A grant ends after a year. The user has to authorize it again.',
    ),
    consent_withdrawn: token(
      '401',
      'The consent was withdrawn',
      'The user or an operator disconnected the application. The user has to authorize it again.',
    ),
    client_disabled: token(
      '401',
      'The client is disabled',
      'Enable it, if it should work. It then needs new tokens.',
    ),
    owner_disabled: token(
      '401',
      'The owner is disabled',
      'Enable its owner, if it should work. It then needs new tokens.',
    ),
    user_disabled: token(
      '401',
      'The user is disabled',
      'The account of the user behind the token is disabled.',
    ),
    scope_missing: token(
      '403',
      'A scope is missing',
      'The token does not have the scope that the endpoint needs.',
    ),
  },
  rate_limited: {
    partner: token(
      '429',
      'Over its requests an hour',
      'It has to wait as long as Retry-After says. Its limit can be raised.',
    ),
    oauth: token(
      '429',
      'Over its requests a minute to /o/',
      'It asks for tokens more often than it needs to: a token lasts for hours.',
    ),
  },
};

export const refusalWords = (kind: ActivityKind, detail: string): RefusalWords =>
  WORDS[kind]?.[detail] ?? { status: '4xx', what: detail.replaceAll('_', ' '), help: '' };
