import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '#records/audit/audit.service.js';
import type { Waiting } from '#access/domain/domain-questions.js';
import { roleNeeded, type OperatorRole } from '#platform/config/operator-role.js';
import { roleTooLow } from '#platform/http/problems/problem.js';
import { Cookies } from '#platform/http/server/cookies.js';
import { CsrfService } from '#platform/http/forms/csrf.service.js';
import type { PageAnswer } from '#platform/http/page-routes/page-answer.js';
import { isPosted } from '#platform/http/forms/form.js';
import type { MayUse } from '#platform/web/layout/may-use.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import type { Counts } from '#platform/web/layout/navigation.js';
import type { IdPrefix } from '#platform/secrets/ids.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { UserPageContext } from '#access/users/sessions/user-page-context.js';
import { CONSOLE_NOTICES, type ConsoleNotice } from './console-notices.js';
import { mayUseRoute } from './console-routes.js';
import { PasswordConfirmations } from '#access/rate-limits/sign-in/password-confirmations.service.js';
import { attempt, type Attempt } from './form-attempt.js';
import { FormIds } from '#platform/http/forms/form-ids.service.js';
import { PASSWORD_FIELD } from './pages/console-form.js';
import { consoleLayout, type ConsolePage } from './pages/console-layout.js';
import { ShownOnce } from '#access/users/sessions/shown-once.service.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { WaitingRepository } from './waiting/waiting.repository.js';

/** The path of the console, and the prefix of all its pages. */
export const CONSOLE_PATH = '/admin/console';

/** What a console route returns. */
export type ConsoleAnswer = PageAnswer<ConsolePage, ConsoleNotice>;

/** Redirects to what waits for a second admin, whose page says that nothing is done yet. */
export const waitingFor = ({ page }: Waiting): ConsoleAnswer => ({
  goTo: page,
  notice: 'approval_requested',
});

/** What every page of the console may need. */
@Injectable()
export class ConsoleServices {
  constructor(
    readonly passwords: PasswordConfirmations,
    readonly formIds: FormIds,
    readonly shownOnce: ShownOnce,
    readonly waiting: WaitingRepository,
    readonly csrf: CsrfService,
    readonly cookies: Cookies,
  ) {}
}

/** An operator's request to the console, after its guard. */
export class ConsoleContext extends UserPageContext<ConsolePage> {
  /** Whether the path names a user who counts as an operator; always false for admins, whom that does not limit. */
  isAboutOperator = false;
  private counts: Counts = {};

  constructor(
    private operator: SignedInUser,
    readonly role: OperatorRole,
    private readonly services: ConsoleServices,
    request: FastifyRequest,
    reply: FastifyReply,
  ) {
    const area = { name: 'console', notices: CONSOLE_NOTICES.texts, home: CONSOLE_PATH };
    super(area, request, reply, services.csrf, services.cookies);
  }

  get user(): SignedInUser {
    return this.operator;
  }

  /** The actor with the operator's role, which limits whom an action may concern (contract §17). */
  override get actor(): Actor {
    return { ...super.actor, operatorRole: this.role };
  }

  override async prepare(): Promise<void> {
    this.counts = await this.services.waiting.count();
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
    const outcome = await this.services.passwords.confirm(this.user, password, actor, request, reply);
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
    return this.services.formIds.make(prefix, this.user.id, path);
  }

  /** The id in that field; throws a 403 problem. */
  formIdIn(prefix: IdPrefix, path: string): string {
    return this.services.formIds.read(this.form, prefix, this.user.id, path);
  }

  override keepShown(path: string, value: object): void {
    this.services.shownOnce.keep(this.reply, this.user, path, value);
  }

  /** The `showOnce` value of the previous form; undefined if it was already shown. */
  takeShown(): unknown {
    return this.services.shownOnce.take(this.request, this.reply, this.user, this.path);
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
