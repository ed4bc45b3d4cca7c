import type { ActivityKind } from '#records/activity/activity.js';
import type { SignInRefusalReason } from '#access/identity-providers/refusals.js';
import { refused, type RefusalMessage } from '#events/partners/refusals/refusal-message.js';
import { clientRefusalMessage } from '#events/partners/refusals/refusal-messages.js';

const SIGN_IN_REFUSED: Record<SignInRefusalReason | 'password' | 'too_many', RefusalMessage> = {
  password: refused('401', 'Wrong email or password', 'Many from one address may be someone who guesses.'),
  too_many: refused(
    '429',
    'Too many failed logins',
    'Not checked: too many failed before, within 15 minutes.',
  ),
  provider_unavailable: refused(
    '503',
    'Identity provider not reachable',
    'Its discovery document, token endpoint or keys could not be read. The log says which.',
  ),
  provider_busy: refused(
    '503',
    'Too many requests for the identity provider',
    'It answered 429. Raise the limit for this service there.',
  ),
  provider_redirects: refused(
    '503',
    'Identity provider has moved',
    'It answered with a redirect, which is not followed. Set issuer to the address that its discovery document names.',
  ),
  provider_answer_unreadable: refused(
    '503',
    'Not an answer of an identity provider',
    'It was not JSON, perhaps the page of a proxy or of a wrong address. Check issuer, and the way to it.',
  ),
  provider_metadata_invalid: refused(
    '503',
    'Identity provider does not fit the settings',
    'Its discovery document names another issuer, a template of issuers, or lacks an address: the log says what. Set issuer to exactly what it names; at Microsoft Entra ID, to the address with the id of your tenant.',
  ),
  client_refused: refused(
    '503',
    'Identity provider does not accept this service',
    'Check client_id, client_secret, redirect URI and scope there. The log names the provider’s error.',
  ),
  provider_refused: refused(
    '400',
    'Refused by the identity provider',
    'The person cancelled, or the provider refused the person, or the code came too late.',
  ),
  provider_answer_invalid: refused(
    '400',
    'Invalid answer of an identity provider',
    'A check of the answer failed: the log says which. Check issuer and clocks, or someone tampered with a login.',
  ),
  sign_in_expired: refused(
    '400',
    'Login through a provider expired',
    'It took longer than 10 minutes, came back in another browser or without cookies, or the page was loaded again.',
  ),
  authentication_too_weak: refused(
    '403',
    'Login at the provider was not strong enough',
    'Its acr and amr are none that the provider’s settings acr_values and amr_values require. The person may need a second factor there.',
  ),
  authentication_not_recent: refused(
    '403',
    'No new login at the provider',
    'The person had to log in there again, and auth_time is missing or too old. Perhaps the provider needs another step_up in its settings.',
  ),
  email_missing: refused(
    '403',
    'No email address from the provider',
    'An account would have been linked or made. The person did not allow the provider to share the address, has none there, or the provider’s setting scope does not ask for it.',
  ),
  email_not_verified: refused(
    '403',
    'Email address not verified by the provider',
    'An account would have been linked or made. The provider calls the address not verified: the person verifies it there, or, for accounts that an admin or a directory made there, an admin does.',
  ),
  email_verification_unknown: refused(
    '403',
    'No word from the provider about whether the address is verified',
    'An account would have been linked or made. The provider sends no email_verified, as Microsoft Entra ID does not: set trust_email in its settings, if nobody can enter another person’s address there.',
  ),
  no_account: refused(
    '403',
    'No account for this person',
    'The provider’s setting accounts does not allow to link or make one, or the account is linked to someone else there.',
  ),
  account_disabled: refused('403', 'Account disabled', 'Enable the user if the person should log in.'),
  not_for_you: refused(
    '403',
    'Provider not for this kind of account',
    'The provider’s setting audience does not include operators, or users; or its claim gives the person no role.',
  ),
};

/** Refusals of requests without a known client. */
const OF_NOBODY: Record<string, RefusalMessage> = {
  no_token: refused(
    '401',
    'No access token',
    'Send the access token in the Authorization header: “Bearer”, a blank, and the token.',
  ),
  token_in_query: refused(
    '401',
    'Access token in the query string',
    'It is only accepted in the Authorization header, because URLs end up in logs. Revoke this token.',
  ),
  token_malformed: refused(
    '401',
    'Malformed access token',
    'It was truncated or changed in transit, or is no access token of this service.',
  ),
  token_forged: refused(
    '401',
    'Access token with a wrong signature',
    'This service did not sign it: it comes from another installation, was changed, or is forged.',
  ),
  token_unknown: refused('401', 'Unknown access token', 'It was never issued, or ended some time ago.'),
  no_credentials: refused(
    '401 invalid_client',
    'No client credentials',
    'Send the client ID and secret by HTTP Basic or in the body, not in both. A header that is no HTTP Basic counts as none.',
  ),
  assertion_malformed: refused(
    '401 invalid_client',
    'Malformed assertion',
    'It is no signed JWT, its type is not jwt-bearer, or its iss, sub and client_id are not the same client ID.',
  ),
  unknown_client: refused(
    '401 invalid_client',
    'Unknown client',
    'There is no client with this ID: it has a typing error, belongs to another installation, or the client was deleted.',
  ),
  address: refused(
    '429',
    'Too many requests from one address',
    'Requests without valid credentials are limited by network address. Wait for as long as Retry-After says.',
  ),
};

/** What was refused and how to fix it: requests of a client, requests without a known client, or logins. */
export const refusalMessage = (kind: ActivityKind, detail: string): RefusalMessage => {
  const own: Record<string, RefusalMessage> = kind === 'sign_in_refused' ? SIGN_IN_REFUSED : OF_NOBODY;
  return own[detail] ?? clientRefusalMessage(kind, detail);
};
