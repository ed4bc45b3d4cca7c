import { withReturnTo } from '#platform/http/forms/return-to.js';

/** The page of the account where factors are added and removed. */
export const SECURITY_PATH = '/account/security';

/** The page that follows the password. */
export const SECOND_FACTOR_PATH = '/login/second-factor';

/** The same, which then leads to `returnTo`. */
export const secondFactorPath = (returnTo: string | undefined): string =>
  withReturnTo(SECOND_FACTOR_PATH, returnTo);

/** The page that asks users to log in again. */
export const CONFIRM_PATH = '/account/confirm';

/** The same, which then leads to `returnTo`. */
export const confirmPathFor = (returnTo: string): string => withReturnTo(CONFIRM_PATH, returnTo);
