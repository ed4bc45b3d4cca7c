import type { Actor } from '../../audit/audit.service.js';
import type { Form } from '../../http/form.js';
import type { IdPrefix } from '../../secrets/ids.js';
import type { SignedInUser } from '../../users/sessions.repository.js';
import type { FieldErrors } from './form-attempt.js';
import type { ConsoleFrame } from './pages/console-layout.js';

/** The path of the console, and the prefix of all its pages. */
export const CONSOLE_PATH = '/admin/console';

/** What a console route returns: a page, or a redirect to one, which then shows a notice or something just created, once. */
export type ConsoleAnswer =
  | { html: string; status?: number; withScript?: boolean }
  | { goTo: string; notice?: ConsoleNotice; showOnce?: object };

/** Messages shown after a form was posted. The cookie holds only the key, so nobody can put other text on the page. */
export const NOTICES = {
  public_client_registered: 'Client created. It is a public client, so it has no secret and must use PKCE.',
  client_changed: 'Client updated.',
  client_disabled: 'Client disabled. Its tokens and grants are revoked.',
  client_enabled: 'Client enabled. It needs new tokens.',
  client_deleted: 'Client deleted.',
  tokens_revoked: 'All tokens and grants revoked.',
  grant_revoked: 'Grant and its tokens revoked.',
  consent_recorded: 'Consent recorded. The user is notified.',
  disconnected: 'Application disconnected from this user.',
  user_created: 'User created.',
  user_changed: 'User updated.',
  user_disabled: 'User disabled. All sessions and tokens of the account are revoked.',
  user_enabled: 'User enabled. They have to log in again.',
  user_erased: 'User erased.',
  operator_made: 'The user is now an operator.',
  operator_unmade: 'The user is no longer an operator.',
  scope_saved: 'Scope saved.',
  endpoint_created: 'Endpoint added.',
  endpoint_changed: 'Endpoint updated.',
  endpoint_enabled: 'Endpoint enabled. Events are sent to it again.',
  endpoint_disabled: 'Endpoint disabled. Nothing more is sent to it.',
  endpoint_deleted: 'Endpoint deleted.',
  delivery_resent: 'Delivery queued for resending.',
  notification_raised: 'Notification created.',
  password_confirmed: 'Password confirmed. You can continue.',
} as const;

export type ConsoleNotice = keyof typeof NOTICES;

/** An operator's request to the console, after its guard. */
export interface ConsoleVisit {
  user: SignedInUser;
  actor: Actor;
  /** The data of the layout. */
  frame: ConsoleFrame;
  /** The path and query of the request. */
  url: string;
  /** The CSRF token of a form that is posted to this path. */
  tokenFor: (path: string) => string;
  /** Checks the password; if it is right, the session continues under a new id. */
  givePassword: (password: string) => Promise<'right' | 'wrong' | 'signed out'>;
  /**
   * For a form that keeps its values: undefined if the password was entered within 15 minutes, or is in the form and right;
   * otherwise the error for the password field, which the form then shows.
   */
  askPassword: (form: Form) => Promise<FieldErrors | undefined>;
  /** The hidden field of a form whose result is created only once: it holds the id of what will be created. */
  onceFor: (prefix: IdPrefix, path: string) => string;
  /** The id in that field; throws a 403 problem. */
  onceIn: (form: Form, prefix: IdPrefix, path: string) => string;
  /** What the previous form created, shown only once; undefined if it was already shown. */
  takeShown: () => unknown;
}
