import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '#records/audit/audit.service.js';
import { roleNeeded, type OperatorRole } from '#platform/config/operator-role.js';
import { roleTooLow } from '#platform/http/problems/problem.js';
import type { Cookies } from '#platform/http/server/cookies.js';
import type { CsrfService } from '#platform/http/forms/csrf.service.js';
import type { PageAnswer } from '#platform/http/page-routes/page-answer.js';
import { isPosted } from '#platform/http/page-routes/posted-form.js';
import type { MayUse } from '#platform/web/layout/may-use.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import type { Counts } from '#platform/web/layout/navigation.js';
import type { IdPrefix } from '#platform/secrets/ids.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { UserPageContext } from '#access/users/sessions/user-page-context.js';
import { mayUseRoute } from './console-routes.js';
import type { PasswordConfirmations } from '#access/rate-limits/sign-in/password-confirmations.service.js';
import { attempt, type Attempt } from './form-attempt.js';
import type { FormIds } from '#platform/http/forms/form-ids.service.js';
import { PASSWORD_FIELD } from './pages/console-form.js';
import { consoleLayout, type ConsolePage } from './pages/console-layout.js';
import type { ShownOnce } from '#access/users/sessions/shown-once.service.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import type { WaitingRepository } from './waiting/waiting.repository.js';

/** The path of the console, and the prefix of all its pages. */
export const CONSOLE_PATH = '/admin/console';

const NOTICES = {
  client_with_keys_registered: 'Client created. It authenticates with its keys, so it has no secret.',
  public_client_registered: 'Client created. It is a public client, so it has no secret and must use PKCE.',
  client_changed: 'Client updated.',
  client_disabled: 'Client disabled. Its tokens and grants are revoked.',
  client_enabled: 'Client enabled. It needs new tokens.',
  client_deleted: 'Client deleted.',
  tokens_revoked: 'All tokens and grants revoked.',
  grant_revoked: 'Grant and its tokens revoked.',
  consent_recorded: 'Consent recorded. The user is notified.',
  disconnected: 'Client disconnected from this user.',
  user_created: 'User created.',
  user_changed: 'User updated.',
  user_disabled: 'User disabled. All sessions and tokens of the account are revoked.',
  user_enabled: 'User enabled. They have to log in again.',
  second_factor_reset:
    'Second factor reset. The user is logged out everywhere and logs in with the password, or needs a password link.',
  identity_removed: 'Link removed. Sessions that came from the provider have ended.',
  user_erased: 'User erased.',
  operator_made: 'The user has the role now, and has to log in again.',
  operator_invited: 'Invitation sent.',
  invitation_withdrawn: 'Invitation withdrawn. Its link no longer works.',
  operator_removed: 'The user is no longer an operator.',
  approval_requested: 'Nothing is done yet: another admin has to approve it.',
  approved: 'Approved and carried out.',
  approval_seconded: 'You are responsible for this request now. A second admin has to approve it too.',
  approval_rejected: 'Rejected. Nothing was done.',
  redirect_uri_approved: 'Approved: the client is changed.',
  redirect_uri_rejected: 'Rejected. Nothing was changed.',
  member_saved: 'Member saved. The user is notified.',
  member_removed: 'Member removed.',
  scope_saved: 'Scope saved.',
  scope_asks_again: 'Scope saved. Users who agreed to it are asked again, from now on in the background.',
  purpose_saved: 'Purpose saved.',
  purpose_deleted: 'Purpose deleted.',
  event_type_saved: 'Event type saved.',
  event_version_saved: 'Version saved.',
  endpoint_created: 'Endpoint added.',
  endpoint_changed: 'Endpoint updated.',
  endpoint_enabled: 'Endpoint enabled. Events are sent to it again.',
  endpoint_disabled: 'Endpoint disabled. Nothing more is sent to it.',
  endpoint_deleted: 'Endpoint deleted.',
  delivery_resent: 'Delivery queued for resending.',
  notification_raised: 'Notification created.',
  brand_saved: 'Brand saved. Pages and mails show it from now on.',
  logo_saved: 'Logo saved.',
  logo_removed: 'Logo removed.',
  password_confirmed: 'Password confirmed. You can continue.',
} as const;

export type ConsoleNotice = keyof typeof NOTICES;

/** What a console route returns. */
export type ConsoleAnswer = PageAnswer<ConsolePage, ConsoleNotice>;

/** An operator's request to the console, after its guard. */
export class ConsoleContext extends UserPageContext<ConsolePage> {
  /** Whether the path names a user who counts as an operator; always false for admins, whom that does not limit. */
  isAboutOperator = false;
  private counts: Counts = {};

  constructor(
    private operator: SignedInUser,
    readonly role: OperatorRole,
    private readonly passwords: PasswordConfirmations,
    private readonly formIds: FormIds,
    private readonly shownOnce: ShownOnce,
    private readonly waiting: WaitingRepository,
    request: FastifyRequest,
    reply: FastifyReply,
    csrf: CsrfService,
    cookies: Cookies,
  ) {
    super({ name: 'console', notices: NOTICES, home: CONSOLE_PATH }, request, reply, csrf, cookies);
  }

  get user(): SignedInUser {
    return this.operator;
  }

  /** The actor with the operator's role, which limits whom an action may concern (contract §17). */
  override get actor(): Actor {
    return { ...super.actor, operatorRole: this.role };
  }

  override async prepare(): Promise<void> {
    const { endpoints, approvals, redirectUris } = await this.waiting.count();
    this.counts = {
      endpoints: { number: endpoints, word: 'failing' },
      approvals: { number: approvals, word: 'waiting' },
      'redirect-uris': { number: redirectUris, word: 'waiting' },
    };
  }

  /** Hides what the role may not use. On pages about an operator, everyone but admins sees what viewers see. */
  layOut(page: ConsolePage): LayoutProps {
    if (page.preview) return page.preview;
    const isLimited = this.isAboutOperator || (page.isAboutOperator && this.role !== 'admin');
    const role = isLimited ? 'viewer' : this.role;
    const method = isPosted(this.request) ? 'POST' : 'GET';
    // The guard has already refused other roles, but with an error page, which is laid out here too.
    if (page.isAboutOperator && role !== this.role && !mayUseRoute(role, method, this.path)) {
      throw roleTooLow(`This user is an operator. ${roleNeeded('admin')}`);
    }
    const mayUse: MayUse = (how, path) => !path.startsWith(CONSOLE_PATH) || mayUseRoute(role, how, path);
    return consoleLayout(page, this.user, { role, mayUse }, this.takeNotice(), this.counts);
  }

  /** Checks the password; if it is right, the session continues under a new id. */
  async givePassword(password: string): Promise<'right' | 'wrong' | 'signed out'> {
    const { request, reply, actor } = this;
    const outcome = await this.passwords.confirm(this.user, password, actor, request, reply);
    if (typeof outcome === 'string') return outcome;
    this.operator = outcome;
    return 'right';
  }

  /**
   * Runs the action of a form if the password was entered within 15 minutes, or is in the form and right. Otherwise nothing is
   * done, and the form is shown again with its values and the password field.
   */
  async attemptWithPassword<T>(work: () => Promise<T>): Promise<Attempt<T>> {
    const errors = await this.askPassword();
    return errors ? { errors } : attempt(work);
  }

  /** The hidden field of a form whose result is created only once: it holds the id of what will be created. */
  formIdFor(prefix: IdPrefix, path: string): string {
    return this.formIds.make(prefix, this.user.id, path);
  }

  /** The id in that field; throws a 403 problem. */
  formIdIn(prefix: IdPrefix, path: string): string {
    return this.formIds.read(this.form, prefix, this.user.id, path);
  }

  override keepShown(path: string, value: object): void {
    this.shownOnce.keep(this.reply, this.user, path, value);
  }

  /** The `showOnce` value of the previous form; undefined if it was already shown. */
  takeShown(): unknown {
    return this.shownOnce.take(this.request, this.reply, this.user, this.path);
  }

  /** Checks that the password was given; returns the errors otherwise. */
  private async askPassword(): Promise<FieldErrors | undefined> {
    if (this.user.gavePasswordRecently) return undefined;
    const password = this.form.get(PASSWORD_FIELD);
    if (password === undefined) return { [PASSWORD_FIELD]: ['Enter your password'] };
    const outcome = await this.givePassword(password);
    if (outcome === 'right') return undefined;
    return outcome === 'wrong'
      ? { [PASSWORD_FIELD]: ['This is not your password'] }
      : { form: ['You have been logged out. Log in again.'] };
  }
}
