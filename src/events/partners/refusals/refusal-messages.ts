import type { ActivityKind, TokenRefusal } from '#records/activity/activity.js';
import { proofRefusals } from './proof-refusals.js';
import { refused, type RefusalMessage } from './refusal-message.js';
import {
  PORTAL_RECOVERIES_PER_MINUTE,
  PORTAL_SENDINGS_PER_MINUTE,
} from '#access/rate-limits/rate-limits.service.js';

const oauthError = (code: string, what: string, help: string) => refused(`400 ${code}`, what, help);

const invalidGrant = (what: string, help: string) => oauthError('invalid_grant', what, help);
const CUT_SHORT =
  'It was truncated or changed in transit. Compare what the client received with what it sends.';
const AGAIN = 'The user has to authorize the client again.';
// A token of the client itself has no user, and one that was revoked alone leaves its refresh token.
const NEW_TOKEN =
  'The client needs a new token; if a refresh is refused too, the user has to authorize the client again.';

const INVALID_GRANT = {
  code_malformed: invalidGrant('Malformed code', CUT_SHORT),
  code_unknown: invalidGrant(
    'Unknown code',
    'It was never issued, or expired or was revoked some time ago. A code is valid for one minute (the default).',
  ),
  code_of_another_client: invalidGrant(
    'Code of another client',
    'The code was issued to another client. Check for mixed-up settings or a stolen code.',
  ),
  redirect_uri_mismatch: invalidGrant(
    'Code for another redirect URI',
    'The redirect_uri of the token request must exactly match that of the authorization request.',
  ),
  verifier_missing: invalidGrant(
    'Missing code verifier',
    'The authorization request had a code_challenge, so the token request must have a code_verifier.',
  ),
  verifier_wrong: invalidGrant(
    'Wrong code verifier',
    'It does not match the code_challenge. Check for two simultaneous logins or a stolen code.',
  ),
  code_expired: invalidGrant(
    'Expired code',
    'A code is valid for one minute (the default). The client has to exchange it immediately.',
  ),
  code_used: invalidGrant(
    'Code already used',
    'The client sent a code twice, or someone stole it. All tokens issued for it are revoked.',
  ),
  code_revoked: invalidGrant(
    'Revoked code',
    'The user or the client was disabled, or the consent was withdrawn, before the code was exchanged. ' +
      AGAIN,
  ),
  refresh_token_malformed: invalidGrant('Malformed refresh token', CUT_SHORT),
  refresh_token_unknown: invalidGrant(
    'Unknown refresh token',
    'It was never issued, or ended some time ago. ' + AGAIN,
  ),
  refresh_token_of_another_client: invalidGrant(
    'Refresh token of another client',
    'It was issued to another client. Check for mixed-up settings or a stolen token.',
  ),
  refresh_token_expired: invalidGrant(
    'Expired refresh token',
    'It was not used for 30 days (the default). ' + AGAIN,
  ),
  refresh_token_used: invalidGrant(
    'Refresh token already used',
    'The client has already used the next one: this is a late duplicate, which is harmless.',
  ),
  refresh_token_replayed: invalidGrant(
    'Replayed refresh token',
    'The client sent a refresh token that was already replaced, or someone stole it. The grant is revoked. ' +
      AGAIN,
  ),
  refresh_token_revoked: invalidGrant(
    'Revoked refresh token',
    'Its grant was revoked, or the key that signed it. The audit log says by whom and why. ' + AGAIN,
  ),
  sandbox_fault: invalidGrant(
    'Fault in the sandbox',
    'Someone asked in the sandbox for this refresh to fail. Its grant has ended. ' + AGAIN,
  ),
  grant_ended: invalidGrant(
    'Ended grant',
    'It expired (after one year, the default, or with the consent), or the user or the client was disabled during the refresh. ' +
      AGAIN,
  ),
  consent_withdrawn: invalidGrant(
    'Consent withdrawn',
    'The user or an operator withdrew the scopes that the client asks for. ' + AGAIN,
  ),
};

const NOT_AN_OPERATOR =
  'It has operator scopes, but its owner is no operator. An admin can mark it as a service of the company, or make the owner an operator.';

const invalidClient = (what: string, help: string) => refused('401 invalid_client', what, help);

const ASSERTIONS = {
  secret_of_client_with_keys: invalidClient(
    'Secret sent by a client with keys',
    'The client authenticates with keys: it has to send a signed assertion instead of a secret.',
  ),
  no_assertion: invalidClient(
    'No assertion',
    'The client authenticates with keys but sends only its ID. It has to send a signed assertion.',
  ),
  assertion_of_client_with_secret: invalidClient(
    'Assertion sent by a client with a secret',
    'The client is set to authenticate with a secret. Register its public keys and set it to private_key_jwt.',
  ),
  assertion_algorithm: invalidClient(
    'Assertion with another algorithm',
    'Assertions are signed with PS256, ES256 or EdDSA.',
  ),
  assertion_keys_unavailable: invalidClient(
    'Keys not available',
    'The keys at jwks_uri could not be fetched for an hour. They must be there with status 200, within 5 seconds, without a redirect, in at most 64 kB.',
  ),
  assertion_key_unknown: invalidClient(
    'Assertion of an unknown key',
    'None of the public keys of the client has the kid of the assertion. Register the new key before it is used.',
  ),
  assertion_signature: invalidClient(
    'Assertion with a wrong signature',
    'None of the public keys of the client that it may mean verifies it. Compare the private key with the registered one.',
  ),
  assertion_audience: invalidClient(
    'Assertion for another audience',
    'Its aud must be the issuer, as one string: no list, and not the address of the token endpoint.',
  ),
  assertion_times: invalidClient(
    'Assertion with wrong times',
    'Its exp must be at most 10 minutes ahead, and iat and nbf not in the future. Check the clock of the client.',
  ),
  assertion_expired: invalidClient(
    'Expired assertion',
    'The client has to sign a new one for each request. Check its clock.',
  ),
  assertion_without_id: invalidClient(
    'Assertion without an ID',
    'It must have a jti of at most 256 characters, another one each time.',
  ),
  assertion_used: invalidClient(
    'Assertion already used',
    'The client has to sign a new one for each request, also when it repeats one; or someone stole it.',
  ),
};

const TOKEN_REFUSED: Record<TokenRefusal, RefusalMessage> & Record<string, RefusalMessage> = {
  wrong_secret: refused(
    '401 invalid_client',
    'Wrong secret',
    'The secret matches none of this client’s secrets. Check the client’s settings, or rotate the secret.',
  ),
  expired_secret: refused(
    '401 invalid_client',
    'Expired secret',
    'The client still sends a secret that was rotated and has expired. Set the new one in its settings.',
  ),
  client_disabled: refused('401 invalid_client', 'Client disabled', 'Enable the client if it should work.'),
  owner_not_operator: refused('401 invalid_client', 'Owner not an operator', NOT_AN_OPERATOR),
  no_secret: refused(
    '401 invalid_client',
    'No secret',
    'It is a confidential client but sends only its ID. It has to authenticate.',
  ),
  secret_of_public_client: refused(
    '401 invalid_client',
    'Secret sent by a public client',
    'A public client has no secret and must not send one. An empty secret counts as none.',
  ),
  ...ASSERTIONS,
  ...proofRefusals((code) => `400 ${code}`),
  ...INVALID_GRANT,
  invalid_request: oauthError(
    'invalid_request',
    'Malformed request',
    'A parameter is missing, repeated or in the query string, or the body is not a form. The response says which.',
  ),
  verifier_unexpected: oauthError(
    'invalid_request',
    'Code verifier without a challenge',
    'The authorization request had no code_challenge. Check how the client starts the authorization.',
  ),
  scope_malformed: oauthError(
    'invalid_scope',
    'Malformed scope',
    'The scope must be a list of names separated by single spaces.',
  ),
  scope_not_registered: oauthError(
    'invalid_scope',
    'Scope not registered',
    'The response says which. The client has to ask for its own scopes, or omit the parameter.',
  ),
  scope_not_granted: oauthError(
    'invalid_scope',
    'Scope not granted by the user',
    'The response says which. A refresh may ask for less than was granted, never for more.',
  ),
  scope_of_another_refresh: oauthError(
    'invalid_scope',
    'Repeated refresh with another scope',
    'Within a minute, the client may repeat a refresh whose response was lost, but only unchanged.',
  ),
  resource_unknown: oauthError(
    'invalid_target',
    'Unknown resource',
    'A resource must be one that the metadata name in protected_resources, or be left out.',
  ),
  resource_not_granted: oauthError(
    'invalid_target',
    'Resource not authorized',
    'A token request may ask for fewer resources than the authorization request, never for others.',
  ),
  resource_of_another_refresh: oauthError(
    'invalid_target',
    'Repeated refresh for other resources',
    'Within a minute, the client may repeat a refresh whose response was lost, but only unchanged.',
  ),
  invalid_target: oauthError(
    'invalid_target',
    'Pushed request for an unknown resource',
    'A resource must be one that the metadata name in protected_resources, or be left out.',
  ),
  grant_type_not_registered: oauthError(
    'unauthorized_client',
    'Grant type not registered',
    'Change how the client gets tokens, or add this grant type to it.',
  ),
  owner_disabled: oauthError(
    'unauthorized_client',
    'Owner disabled',
    'Enable its owner if the client should work.',
  ),
  unsupported_response_type: oauthError(
    'unsupported_response_type',
    'Unknown response type',
    'A pushed request must have response_type=code. There is no implicit flow.',
  ),
  unauthorized_client: oauthError(
    'unauthorized_client',
    'Pushed request of a client that may not use codes',
    'Add the grant type authorization_code to the client. A gatekeeper cannot receive consents.',
  ),
  invalid_scope: oauthError(
    'invalid_scope',
    'Pushed request with a wrong scope',
    'The response says which. The client has to ask for its own scopes, or omit the parameter.',
  ),
  unsupported_grant_type: oauthError(
    'unsupported_grant_type',
    'Unknown grant type',
    'This service supports authorization_code, client_credentials and refresh_token.',
  ),
  insufficient_scope: refused(
    '403 insufficient_scope',
    'Introspection not allowed',
    'Introspection requires the scope token:introspect.',
  ),
};

const sandboxFault = (status: string) =>
  refused(
    status,
    'Fault in the sandbox',
    'Someone asked in the sandbox for this request to fail. There is nothing to fix.',
  );

const MESSAGES: Partial<Record<ActivityKind, Record<string, RefusalMessage>>> = {
  token_refused: TOKEN_REFUSED,
  bearer_refused: {
    sandbox_fault: sandboxFault('401'),
    ...proofRefusals(() => '401'),
    token_bound: refused(
      '401',
      'Bound access token without its key',
      'The token is bound to a key: the client has to send it with the scheme DPoP and a proof. If it did not, the token may be stolen.',
    ),
    token_not_bound: refused(
      '401',
      'Access token with a needless proof',
      'The token is not bound to a key: the client has to send it with the scheme Bearer.',
    ),
    token_expired: refused(
      '401',
      'Expired access token',
      'The client uses a token that has expired. It has to refresh it or get a new one.',
    ),
    token_revoked: refused(
      '401',
      'Revoked access token',
      'The token or its grant was revoked. The audit log says by whom, unless the client itself revoked the token alone. ' +
        NEW_TOKEN,
    ),
    token_of_another_resource: refused(
      '401',
      'Access token for another resource',
      'The client asked for a token that is only for other resources. It has to ask for one for this service, or leave resource out.',
    ),
    token_key_revoked: refused(
      '401',
      'Access token signed with a revoked key',
      'The key that signed it was revoked. The client needs a new token; users have to authorize the client again.',
    ),
    grant_expired: refused('401', 'Expired grant', 'A grant expires after one year (the default). ' + AGAIN),
    consent_withdrawn: refused(
      '401',
      'Consent withdrawn',
      'The user or an operator disconnected the client. ' + AGAIN,
    ),
    consent_expired: refused(
      '401',
      'Expired consent',
      'The time for which the user shared data with the client is over. ' + AGAIN,
    ),
    client_disabled: refused(
      '401',
      'Client disabled',
      'Enable the client if it should work. It then needs new tokens.',
    ),
    owner_disabled: refused(
      '401',
      'Owner disabled',
      'Enable its owner if the client should work. It then needs new tokens.',
    ),
    owner_not_operator: refused('401', 'Owner not an operator', NOT_AN_OPERATOR),
    user_disabled: refused('401', 'User disabled', 'The account of the user behind the token is disabled.'),
    scope_missing: refused(
      '403',
      'Missing scope',
      'The token does not have the scope that the endpoint requires.',
    ),
    role_missing: refused(
      '403',
      'Role too low',
      'The owner of the client is an operator whose role does not include this. An admin can change the role.',
    ),
  },
  rate_limited: {
    sandbox_fault: sandboxFault('429'),
    partner: refused(
      '429',
      'Over the hourly request limit',
      'The client has to wait for as long as Retry-After says. Its limit can be raised.',
    ),
    portal: refused(
      '429',
      'Too many tests, resends or recoveries',
      `Its webhook portal allows ${PORTAL_SENDINGS_PER_MINUTE} tests and resends a minute, and ${PORTAL_RECOVERIES_PER_MINUTE} recoveries.`,
    ),
    oauth: refused(
      '429',
      'Over the per-minute limit of /o/',
      'The client requests tokens more often than needed: a token is valid for hours.',
    ),
  },
};

/** What to do if only operators can do what the message says. */
const HELP_FOR_PARTNERS: Record<string, string> = {
  client_disabled: 'Ask the operators of this service to enable the client. It then needs new tokens.',
  owner_disabled: 'Ask the operators of this service to enable the organisation. It then needs new tokens.',
  refresh_token_revoked: `Its grant was revoked, or the key that signed it. ${AGAIN}`,
  token_revoked: `The token or its grant was revoked. ${NEW_TOKEN}`,
  grant_type_not_registered:
    'Change how the client gets tokens, or ask the operators of this service to add this grant type.',
  role_missing: 'The owner of the client is an operator whose role does not include this.',
  partner: 'Wait for as long as Retry-After says. If that is not enough, ask for a higher limit.',
};

/** Why a client's request was refused, for operators. */
export const clientRefusalMessage = (kind: ActivityKind, detail: string): RefusalMessage =>
  MESSAGES[kind]?.[detail] ?? { status: '4xx', what: detail.replaceAll('_', ' '), help: '' };

/** The same for people of the client, who are not told that an account is disabled. */
export function refusalMessageForPartner(kind: ActivityKind, given: string): RefusalMessage {
  const detail = given === 'user_disabled' ? 'token_revoked' : given;
  const message = clientRefusalMessage(kind, detail);
  return { ...message, help: HELP_FOR_PARTNERS[detail] ?? message.help };
}
