import { Param } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { OperatorInvitationsService } from '#events/partners/members/operator-invitations.service.js';
import { MailLimitsService } from '#access/rate-limits/sign-in/mail-limits.service.js';
import { OperatorInvitationDto } from '../../api/operator-invitations/admin-operator-invitations.dto.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsoleGet, ConsolePages, ConsolePost } from '../console-pages.decorator.js';
import { attempt, formValue } from '../form-attempt.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { invitationsPage, INVITATIONS_PATH, inviteOperatorPage } from './operator-invitations.pages.js';

/** Invitations to become an operator (contract §17). */
@ConsolePages('users/invitations')
export class ConsoleOperatorInvitationsController {
  constructor(
    private readonly invitations: OperatorInvitationsService,
    private readonly limits: MailLimitsService,
    private readonly settings: Settings,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(): Promise<ConsoleAnswer> {
    return { page: invitationsPage(await this.invitations.list()) };
  }

  @ConsoleGet('new', 'asked')
  askWhom(): ConsoleAnswer {
    return this.form({ email: '', role: 'viewer' });
  }

  /** Mails an invitation. */
  @ConsolePost('new', 'asked')
  async invite(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const { form, actor } = context;
    const typed = { email: form.get('email')?.trim() ?? '', role: form.get('role') ?? '' };
    const { result: refusal, errors } = await attempt(async () => {
      const { email, role } = await formValue(OperatorInvitationDto, typed);
      const refused = this.settings.sendsMail ? await this.limits.admitOfAdmin(email, actor) : undefined;
      if (!refused) await this.invitations.invite(email, role, actor);
      return refused;
    });
    if (errors) return this.form(typed, errors);
    if (refusal) {
      context.retryAfter(refusal.retryAfterSeconds);
      return this.form(typed, { form: [refusal.reason] }, 429);
    }
    return { goTo: INVITATIONS_PATH, notice: 'operator_invited' };
  }

  @ConsolePost('withdraw/:id', 'not asked')
  async withdraw(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    await this.invitations.withdraw(id, context.actor);
    return { goTo: INVITATIONS_PATH, notice: 'invitation_withdrawn' };
  }

  private form(typed: { email: string; role: string }, errors?: FieldErrors, status = 400): ConsoleAnswer {
    const { sendsMail: isMailOn, fourEyes } = this.settings;
    const page = inviteOperatorPage({ typed, isMailOn, fourEyes, errors });
    return { page, status: errors ? status : 200 };
  }
}
