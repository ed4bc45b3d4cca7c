import { OPERATOR_ROLES, type OperatorRole } from '#platform/config/operator-role.js';
import { IsEmailAddress, IsOneOf } from '#platform/http/validation/validation.decorators.js';

/** Body of `POST /admin/operator_invitations`. */
export class OperatorInvitationDto {
  @IsEmailAddress() email!: string;
  @IsOneOf(...OPERATOR_ROLES) role!: OperatorRole;
}
