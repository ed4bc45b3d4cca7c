import { ApiSchema } from '@nestjs/swagger';
import { OPERATOR_ROLES } from '#platform/config/operator-role.js';
import { idOf, oneOf, text, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import type { OperatorInvitation } from '#events/partners/members/invitation.js';

/** An invitation to become an operator, on the wire; never with its link. */
@ApiSchema({ name: 'OperatorInvitation' })
export class OperatorInvitationView extends viewOf<OperatorInvitation>()({
  id: idOf('mbiv'),
  email: text(undefined, { format: 'email', example: 'olga@charging.example' }),
  role: oneOf(...OPERATOR_ROLES),
  invited_by: idOf('user', 'The admin behind it: it works as long as that is one.'),
  created_at: time(),
  expires_at: time(),
}) {}
