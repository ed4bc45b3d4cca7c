import { SetMetadata } from '@nestjs/common';
import { safeReturnTo } from '../http/forms/return-to.js';

export const CONFIRM_PATH = '/account/confirm';

export const ASKS_TO_CONFIRM = 'account:asks-to-confirm';

/** For a page or form that changes how its user logs in: asks for the login again if it was more than 15 minutes ago. */
export const AsksToConfirm = () => SetMetadata(ASKS_TO_CONFIRM, true);

/** The page that asks and then redirects to `returnTo`. */
export const confirmPathFor = (returnTo: string): string =>
  `${CONFIRM_PATH}?${new URLSearchParams({ return_to: returnTo }).toString()}`;

/** A path of this service that the page may lead to: of the account or of the console. */
export function confirmedPathIn(returnTo: string | undefined): string {
  const path = safeReturnTo(returnTo);
  return path && /^\/(account|admin\/console)(\/|\?|$)/.test(path) ? path : '/account/security';
}
