import { SetMetadata } from '@nestjs/common';
import { safeReturnTo } from '#platform/http/forms/return-to.js';
import { SECURITY_PATH } from '#access/users/factors/factor-paths.js';

export const ASKS_TO_CONFIRM = 'account:asks-to-confirm';

/**
 * For a page or form that changes how its user logs in, hands out the user’s data or deletes the account: asks the user to log in again if
 * the login was more than 15 minutes ago.
 */
export const AsksToConfirm = () => SetMetadata(ASKS_TO_CONFIRM, true);

/** A path that the page may lead to: of the account, the console or the webhook portal. */
export function confirmedPathIn(returnTo: string | undefined): string {
  const path = safeReturnTo(returnTo);
  return path && /^\/(account|admin\/console|portal)(\/|\?|$)/.test(path) ? path : SECURITY_PATH;
}
