import { Param } from '@nestjs/common';
import { isEmail } from 'class-validator';
import { Settings } from '#platform/config/settings.js';
import { unlessConflict } from '#platform/http/page-routes/unless-conflict.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { illegible } from '#platform/http/validation/legible-text.js';
import { InvitationsService } from '#events/partners/members/invitations.service.js';
import { isMemberRole } from '#events/partners/members/member.js';
import { MembersService } from '#events/partners/members/members.service.js';
import { MailLimitsService } from '#access/rate-limits/sign-in/mail-limits.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { memberPage, membersPage, MEMBERS_PATH, removeMemberPage } from './members.page.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { PortalGet, PortalPages, PortalPost } from '../frame/portal-pages.decorator.js';

const EMAIL_MAX = 254;

/** The members of the organisation that the client belongs to, and invitations (contract §20). */
@PortalPages('members')
export class PortalMembersController {
  constructor(
    private readonly members: MembersService,
    private readonly invitations: InvitationsService,
    private readonly users: UsersService,
    private readonly limits: MailLimitsService,
    private readonly settings: Settings,
  ) {}

  @PortalGet('', 'viewer')
  list(@Context() context: PortalContext): Promise<PortalAnswer> {
    return this.page(context);
  }

  /** Mails an invitation. */
  @PortalPost('', 'nothing')
  async invite(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { visitor, form, actor } = context;
    const email = form.get('email')?.trim() ?? '';
    const role = form.get('role');
    const errors: FieldErrors = {};
    if (email.length > EMAIL_MAX || !isEmail(email) || illegible(email) !== undefined) {
      errors.email = 'Enter an email address, such as name@mail.example.';
    }
    if (!isMemberRole(role)) errors.role = 'Choose one of these.';
    if (Object.keys(errors).length > 0 || !isMemberRole(role)) return this.page(context, errors, 400);
    const refusal =
      this.settings.sendsMail && (await this.limits.admitOfPartner(email, visitor.ownerId, visitor.user?.id));
    if (refusal) {
      context.retryAfter(refusal.retryAfterSeconds);
      return this.page(context, { form: refusal.reason }, 429);
    }
    return this.attempt(context, async () => {
      await this.invitations.invite(visitor.ownerId, email, role, actor);
      return { goTo: MEMBERS_PATH, notice: 'member_invited' };
    });
  }

  @PortalGet(':user_id')
  async show(@Context() context: PortalContext, @Param('user_id') userId: string): Promise<PortalAnswer> {
    return { page: memberPage(await this.members.get(context.visitor.ownerId, userId)) };
  }

  @PortalPost(':user_id', 'nothing')
  async changeRole(
    @Context() context: PortalContext,
    @Param('user_id') userId: string,
  ): Promise<PortalAnswer> {
    const { visitor, form, actor } = context;
    const role = form.get('role');
    if (!isMemberRole(role)) {
      const member = await this.members.get(visitor.ownerId, userId);
      return { page: memberPage(member, { role: 'Choose one of these.' }), status: 400 };
    }
    return this.attempt(context, async () => {
      await this.members.changeRole(visitor.ownerId, userId, role, actor);
      return { goTo: MEMBERS_PATH, notice: 'member_changed' };
    });
  }

  @PortalGet(':user_id/remove')
  async askToRemove(
    @Context() context: PortalContext,
    @Param('user_id') userId: string,
  ): Promise<PortalAnswer> {
    return { page: removeMemberPage(await this.members.get(context.visitor.ownerId, userId)) };
  }

  /** Ends the membership; an admin may leave this way too. */
  @PortalPost(':user_id/remove', 'nothing')
  remove(@Context() context: PortalContext, @Param('user_id') userId: string): Promise<PortalAnswer> {
    return this.attempt(context, async () => {
      await this.members.remove(context.visitor.ownerId, userId, context.actor);
      return { goTo: MEMBERS_PATH, notice: 'member_removed' };
    });
  }

  @PortalPost('withdraw/:id', 'nothing')
  async withdraw(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    await this.invitations.withdraw(context.visitor.ownerId, id, context.actor);
    return { goTo: MEMBERS_PATH, notice: 'invitation_withdrawn' };
  }

  private attempt(context: PortalContext, work: () => Promise<PortalAnswer>): Promise<PortalAnswer> {
    return unlessConflict(work, (form) => this.page(context, { form }, 409));
  }

  private async page(
    context: PortalContext,
    errors: FieldErrors = {},
    status?: number,
  ): Promise<PortalAnswer> {
    const { visitor, form } = context;
    const [owner, members, invitations, state] = await Promise.all([
      this.users.get(visitor.ownerId),
      this.members.all(visitor.ownerId),
      this.invitations.list(visitor.ownerId),
      context.adminState(),
    ]);
    const page = membersPage({
      owner: { name: owner.name, email: owner.email, isOrganisation: owner.kind === 'organisation' },
      members,
      invitations,
      state,
      isMailOn: this.settings.sendsMail,
      email: form.get('email')?.slice(0, EMAIL_MAX),
      role: form.get('role'),
      errors,
    });
    return { page, status };
  }
}
