import type { BearerRefusal } from '#records/activity/activity.js';

/**
 * What is wrong with an access token, in characters that `error_description` allows (RFC 6750 §3). Why a client, a user or a
 * consent ended is shown to operators only.
 */
export function invalidTokenMessage(reason: BearerRefusal): string {
  switch (reason) {
    case 'token_malformed':
      return 'The access token is malformed: it was truncated or changed in transit.';
    case 'token_forged':
    case 'token_unknown':
      return 'The access token is unknown: it was never issued, or ended some time ago.';
    case 'token_expired':
      return 'The access token has expired.';
    case 'grant_expired':
      return 'The grant of the access token has expired: the user has to authorize the client again.';
    default:
      return 'The access token was revoked.';
  }
}
