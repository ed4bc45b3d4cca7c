import { SetMetadata } from '@nestjs/common';
import { safeReturnTo } from '#platform/http/forms/return-to.js';
import { CONSOLE_PATH } from './console-context.js';

export const CONFIRM_PASSWORD_PATH = `${CONSOLE_PATH}/confirm-password`;

/**
 * How a form asks for the password again if it was entered more than 15 minutes ago (contract §12):
 * - `asked`: before its page, which explains the action and is shown again afterwards (`ConsoleGuard`);
 * - `asked on the page above`: before the parent page, which has the button (`ConsoleGuard`);
 * - `asked in the form`: in the form itself, which keeps its values (`ConsoleContext.attemptWithPassword`); before its page
 *   for users who have no password to enter (`ConsoleGuard`);
 * - `not asked`: it grants no power, creates no secret and can be undone.
 */
export type PasswordRule = 'asked' | 'asked on the page above' | 'asked in the form' | 'not asked';

export const PASSWORD_RULE = 'console:password-rule';

export const PasswordIs = (rule: PasswordRule) => SetMetadata(PASSWORD_RULE, rule);

/** The page that asks for the password and then redirects to `returnTo`. */
export const confirmPasswordPath = (returnTo: string): string =>
  `${CONFIRM_PASSWORD_PATH}?${new URLSearchParams({ return_to: returnTo }).toString()}`;

/** A path of the console; anything else is ignored. */
export function consolePathIn(returnTo: string | undefined): string {
  const path = safeReturnTo(returnTo);
  return path?.startsWith(`${CONSOLE_PATH}/`) ? path : CONSOLE_PATH;
}
