import { Body, Controller, Delete, Get, Post } from '@nestjs/common';
import type { Actor } from '../../../audit/audit.service.js';
import { ApiAnswer, ApiNoContent, ApiProblems, PathId } from '../../../http/api/api-answers.js';
import { OperatorInvitationsService } from '../../../partners/members/operator-invitations.service.js';
import { MailLimitsService } from '../../../rate-limits/sign-in/mail-limits.service.js';
import { CurrentActor } from '../../../tokens/access/current-principal.decorator.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { OperatorInvitationDto } from './admin-operator-invitations.dto.js';
import { OperatorInvitationView } from './admin-operator-invitations.view.js';

/** Invitations to become an operator, in the admin API (contract §17). */
@Controller('admin/operator_invitations')
@AdminApi()
export class AdminOperatorInvitationsController {
  constructor(
    private readonly invitations: OperatorInvitationsService,
    private readonly limits: MailLimitsService,
  ) {}

  /** Those that still work, oldest first: at most 50. */
  @Get()
  @AdminRead('listOperatorInvitations', 'Invitations of operators', 'Those that still work, oldest first.')
  @ApiAnswer(200, 'The invitations.', [OperatorInvitationView])
  async list(): Promise<OperatorInvitationView[]> {
    return (await this.invitations.list()).map(OperatorInvitationView.of);
  }

  /** Mails the link: 201; an operator already, without an admin behind it, or with `FOUR_EYES` alone: 409; without mail: 404. */
  @Post()
  @AdminWrite(
    'inviteOperator',
    'Invite an operator',
    'Mails a link, which works once within 7 days; an earlier one to the same address ends. The owner of the client has to be an admin, who stands behind it. An operator already, another owner, more than 50, or with `FOUR_EYES` a new admin: 409. Without mail: 404. At most 5 mails an hour to an address: 429.',
  )
  @ApiAnswer(201, 'Invited.', OperatorInvitationView)
  @ApiProblems(404, 409)
  async invite(
    @Body() { email, role }: OperatorInvitationDto,
    @CurrentActor() actor: Actor,
  ): Promise<OperatorInvitationView> {
    await this.limits.requireTo(email);
    return OperatorInvitationView.of(await this.invitations.invite(email, role, actor));
  }

  /** Ends an invitation: 204; used, expired or withdrawn: 404. */
  @Delete(':id')
  @AdminWrite('withdrawOperatorInvitation', 'Withdraw an invitation', 'Its link no longer works.')
  @ApiNoContent('Withdrawn.')
  @ApiProblems(404)
  withdraw(@PathId('id', 'mbiv') id: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.invitations.withdraw(id, actor);
  }
}
