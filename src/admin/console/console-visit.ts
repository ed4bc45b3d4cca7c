import type { Actor } from '../../audit/audit.service.js';
import type { SignedInUser } from '../../users/sessions.repository.js';
import type { ConsoleFrame } from './pages/console-layout.js';

/** Where the console is, and where each of its parts begins. */
export const CONSOLE_PATH = '/admin/console';

/** What a page of the console ends with: a page, or the way to another, which then says what was done. */
export type ConsoleAnswer = { html: string; status?: number } | { goTo: string; notice?: ConsoleNotice };

/** What a page says after a form was posted. The cookie holds the key alone, so nobody can put other words on the page. */
export const NOTICES = {
  client_changed: 'The client is changed.',
  client_disabled: 'The client is disabled. Its tokens and grants have ended.',
  client_enabled: 'The client is enabled. It has to get new tokens.',
  client_deleted: 'The client is deleted.',
  tokens_revoked: 'All tokens and grants have ended.',
  grant_revoked: 'The grant and its tokens have ended.',
  consent_recorded: 'The consent is recorded, and the user is notified.',
  disconnected: 'The application is disconnected from this user.',
  user_created: 'The user is made.',
  user_changed: 'The user is changed.',
  user_disabled: 'The user is disabled. All that rested on the account has ended.',
  user_enabled: 'The user is enabled, and has to sign in anew.',
  user_erased: 'The person is erased.',
  operator_made: 'The user is an operator from now on.',
  operator_unmade: 'The user is no longer an operator.',
  scope_saved: 'The scope is saved.',
  endpoint_created: 'The endpoint is added.',
  endpoint_changed: 'The endpoint is changed.',
  endpoint_enabled: 'The endpoint is enabled: events are sent to it from now on.',
  endpoint_disabled: 'The endpoint is disabled: nothing more is sent to it.',
  endpoint_deleted: 'The endpoint is deleted.',
  delivery_resent: 'The delivery is on its way again.',
  notification_raised: 'The notification is raised.',
  password_confirmed: 'Thank you. You can go on now.',
} as const;

export type ConsoleNotice = keyof typeof NOTICES;

/** An operator's request to the console, behind its guard. */
export interface ConsoleVisit {
  user: SignedInUser;
  actor: Actor;
  /** What stands around the page. */
  frame: ConsoleFrame;
  /** The path and query of the request. */
  url: string;
  /** The CSRF token of a form that is posted to this path. */
  tokenFor: (path: string) => string;
}
