import { Param, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Settings } from '#platform/config/settings.js';
import { withReturnTo } from '#platform/http/forms/return-to.js';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { isTranslated, say, type Said } from '#platform/language/text.js';
import { linkGone } from '#platform/http/page-routes/link-gone.js';
import { NoLongerSignedIn } from '#platform/http/page-routes/page-answer.js';
import { OpenGet, OpenPages, OpenPost } from '#platform/http/page-routes/open-pages.js';
import type { OpenAnswer, OpenContext } from '#platform/http/page-routes/open-pages.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { Problem } from '#platform/http/problems/problem.js';
import { visitorOf } from '#platform/http/server/request-origin.js';
import { InvitationsService, type ShownInvitation } from '#events/partners/members/invitations.service.js';
import { OperatorInvitationsService } from '#events/partners/members/operator-invitations.service.js';
import { emailKeyOf } from '#access/users/accounts/email.js';
import { EmailVerificationService } from '#access/users/emails/email-verification.service.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { SessionsService } from '#access/users/sessions/sessions.service.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { messagePage } from '#platform/web/layout/message.page.js';
import { invitationPage } from './pages/invitation.page.js';
import { signUpPage } from './sign-up/sign-up.page.js';
import { signUpErrors, signUpFieldsIn } from './sign-up/sign-up-fields.js';

/**
 * The page of an invitation into an organisation (contract §20), or to become an operator (§17). For a user who is logged in with its
 * address; otherwise it asks for the login or, if the address has no account, shows a form that creates one.
 */
@OpenPages('invitations/:key')
@UseGuards(AddressRateLimitGuard)
export class InvitationController {
  constructor(
    private readonly invitations: InvitationsService,
    private readonly operators: OperatorInvitationsService,
    private readonly sessions: SessionsService,
    private readonly emails: EmailVerificationService,
    private readonly settings: Settings,
  ) {}

  @OpenGet()
  async show(@Param('key') key: string, @Req() request: FastifyRequest): Promise<OpenAnswer> {
    const invitation = await this.invitations.find(key);
    if (!invitation) return gone();
    const user = await this.sessions.current(request);
    if (user) return this.forUser(invitation, user, pathOf(key));
    if (invitation.hasAccount || !this.settings.passwordSignIn) return toSignIn(key);
    return { page: newAccountPage(invitation, pathOf(key)) };
  }

  /** Accepts it, or creates the account; either works once. */
  @OpenPost()
  async accept(
    @Param('key') key: string,
    @Context() context: OpenContext,
    @Req() request: FastifyRequest,
  ): Promise<OpenAnswer> {
    const invitation = await this.invitations.find(key);
    if (!invitation) return gone();
    const user = await this.sessions.current(request);
    try {
      if (user) return await this.acceptAs(user, invitation, key, context, request);
      if (invitation.hasAccount || !this.settings.passwordSignIn) return toSignIn(key);
      return await this.signUp(invitation, key, context, request);
    } catch (error) {
      if (error instanceof NoLongerSignedIn) return toSignIn(key);
      if (!(error instanceof Problem) || error.status !== 409) throw error;
      return { page: refused(error.extras.said ?? error.detail), status: 409 };
    }
  }

  private async acceptAs(
    user: SignedInUser,
    invitation: ShownInvitation,
    key: string,
    { form }: OpenContext,
    request: FastifyRequest,
  ): Promise<OpenAnswer> {
    const answer = await this.forUser(invitation, user, pathOf(key));
    if ('status' in answer) return answer;
    const { id, sessionDigest } = user;
    const actor = { ...visitorOf(request), id, sessionDigest };
    if (invitation.organisationId === null) {
      const { password_again: again, ...typed } = signUpFieldsIn(form);
      const password = this.settings.passwordSignIn ? typed.password : undefined;
      const errors =
        password === undefined ? {} : signUpErrors({ name: user.name, password, password_again: again });
      if (Object.keys(errors).length > 0) return this.forUser(invitation, user, pathOf(key), errors);
      return (await this.operators.accept(key, id, password, actor)) ? { page: becameOperator() } : gone();
    }
    return (await this.invitations.accept(key, user.id, actor)) ? { goTo: '/portal/sign-in' } : gone();
  }

  private async signUp(
    invitation: ShownInvitation,
    key: string,
    { form }: OpenContext,
    request: FastifyRequest,
  ): Promise<OpenAnswer> {
    const { password_again: again, ...person } = signUpFieldsIn(form);
    const errors = signUpErrors({ ...person, password_again: again });
    if (Object.keys(errors).length > 0) {
      return { page: newAccountPage(invitation, pathOf(key), person.name, errors), status: 400 };
    }
    const actor = visitorOf(request);
    const isForOperator = invitation.organisationId === null;
    const service = isForOperator ? this.operators : this.invitations;
    if (!(await service.signUp(key, person, actor))) return gone();
    return { page: isForOperator ? becameOperator() : done() };
  }

  /** The page with the button, or why the invitation is not for this user (403). */
  private async forUser(
    invitation: ShownInvitation,
    user: SignedInUser,
    action: string,
    errors?: FieldErrors,
  ): Promise<OpenAnswer> {
    const setsPassword = invitation.organisationId === null && this.settings.passwordSignIn;
    const props = { invitation, user, action, setsPassword, errors };
    if (emailKeyOf(user.email) !== emailKeyOf(invitation.email)) {
      return { page: invitationPage({ ...props, problem: 'another address' }), status: 403 };
    }
    if (!(await this.emails.isVerified(user.id))) {
      return { page: invitationPage({ ...props, problem: 'not verified' }), status: 403 };
    }
    return { page: invitationPage(props), ...(errors ? { status: 400 } : {}) };
  }
}

const pathOf = (key: string): string => `/invitations/${key}`;

const toSignIn = (key: string): OpenAnswer => ({
  goTo: withReturnTo('/login', pathOf(key)),
  status: 302,
});

const newAccountPage = (
  { email, inviterName, organisationId, role }: ShownInvitation,
  action: string,
  name?: string,
  errors?: ReturnType<typeof signUpErrors>,
) => {
  const invitedBy = { name: inviterName, asOperator: organisationId === null ? role : undefined };
  return signUpPage({ action, email, name, errors, invitedBy });
};

const done = () =>
  messagePage({
    title: say('Account created'),
    heading: say('Your account has been created'),
    text: say('You are a member of the organisation. Log in with your email address and your password.'),
    action: { href: '/portal/sign-in', label: say('Go to the webhook portal') },
    isTranslated: true,
  });

const becameOperator = () =>
  messagePage({
    title: say('Invitation accepted'),
    heading: say('You are an operator now'),
    text: say('Log in, and you can open the console.'),
    action: { href: withReturnTo('/login', '/admin/console'), label: say('Log in') },
    isTranslated: true,
  });

const refused = (detail: string | Said) =>
  messagePage({
    title: say('Invitation not accepted'),
    heading: say('This is not possible right now'),
    text: [detail, say('The invitation still works: try again later, or ask the person who invited you.')],
    isTranslated: isTranslated(detail),
  });

const gone = (): OpenAnswer =>
  linkGone(say('An invitation works once, within 7 days. Ask the organisation for a new one.'));
