import { Body, Controller, Delete, Get, Post } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import type { Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { ApiAnswer, ApiNoContent, ApiProblems, PathId } from '#platform/http/api/api-answers.js';
import { OperatorInvitationsService } from '#events/partners/members/operator-invitations.service.js';
import { MailLimitsService } from '#access/rate-limits/sign-in/mail-limits.service.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import { OPERATOR_ROLES } from '#platform/config/operator-role.js';
import { idOf, oneOf, text, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import type { OperatorInvitation } from '#events/partners/members/invitation.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { OperatorInvitationDto } from './admin-operator-invitations.dto.js';

/** An invitation to become an operator, on the wire; never with its link. */
@ApiSchema({ name: 'OperatorInvitation' })
class OperatorInvitationView extends viewOf<OperatorInvitation>()({
  id: idOf('mbiv'),
  email: text(undefined, { format: 'email', example: 'olga@charging.example' }),
  role: oneOf(...OPERATOR_ROLES),
  invited_by: idOf('user', 'The admin behind it: it works as long as that is one.'),
  created_at: time(),
  expires_at: time(),
}) {}

/** Invitations to become an operator, in the admin API (contract §17). */
@Controller('admin/operator_invitations')
@AdminApi()
export class AdminOperatorInvitationsController {
  constructor(
    private readonly invitations: OperatorInvitationsService,
    private readonly limits: MailLimitsService,
    private readonly settings: Settings,
  ) {}

  @Get()
  @AdminRead('listOperatorInvitations', 'Invitations of operators', 'Those that still work, oldest first.')
  @ApiAnswer(200, 'The invitations.', [OperatorInvitationView])
  async list(): Promise<OperatorInvitationView[]> {
    return (await this.invitations.list()).map(OperatorInvitationView.of);
  }

  @Post()
  @AdminWrite(
    'inviteOperator',
    'Invite an operator',
    'Mails a link, which works once within 7 days; an earlier one to the same address ends. The owner of the client has to be an admin, who is responsible for it. An operator already, another owner, more than 50, or with `FOUR_EYES` a new admin: 409. Without mail: 404. At most 20 an hour for an admin, and for all admins together, and 5 to an address: 429.',
  )
  @ApiAnswer(201, 'Invited.', OperatorInvitationView)
  @ApiProblems(404, 409)
  async invite(
    @Body() { email, role }: OperatorInvitationDto,
    @CurrentActor() actor: Actor,
  ): Promise<OperatorInvitationView> {
    if (this.settings.sendsMail) await this.limits.requireOfAdmin(email, actor);
    return OperatorInvitationView.of(await this.invitations.invite(email, role, actor));
  }

  @Delete(':id')
  @AdminWrite('withdrawOperatorInvitation', 'Withdraw an invitation', 'Its link no longer works.')
  @ApiNoContent('Withdrawn.')
  withdraw(@PathId('id', 'mbiv') id: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.invitations.withdraw(id, actor);
  }
}
