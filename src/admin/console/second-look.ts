import { CONSOLE_PATH, type ConsoleAnswer, type ConsoleVisit } from './console-visit.js';

export const CONFIRM_PATH = `${CONSOLE_PATH}/confirm-password`;

/**
 * What cannot be undone asks for the password again when it was last given over 15 minutes ago: the way there, which leads
 * back to `returnTo`; undefined where it was given lately.
 */
export function secondLook({ user }: ConsoleVisit, returnTo: string): ConsoleAnswer | undefined {
  if (user.gavePasswordRecently) return undefined;
  return { goTo: `${CONFIRM_PATH}?${new URLSearchParams({ return_to: returnTo }).toString()}` };
}
