/** The page of the account where factors are added and removed. */
export const SECURITY_PATH = '/account/security';

/** The page that asks users to log in again. */
export const CONFIRM_PATH = '/account/confirm';

/** The same, which then leads to `returnTo`. */
export const confirmPathFor = (returnTo: string): string =>
  `${CONFIRM_PATH}?${new URLSearchParams({ return_to: returnTo }).toString()}`;
