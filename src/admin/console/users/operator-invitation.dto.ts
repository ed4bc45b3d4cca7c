import { OPERATOR_ROLES, type OperatorRole } from '../../../config/operator-role.js';
import { IsEmailAddress, IsOneOf } from '../../../http/validation/validation.decorators.js';

/** What is typed to invite an operator. */
export class OperatorInvitationDto {
  @IsEmailAddress()
  email!: string;

  @IsOneOf(...OPERATOR_ROLES)
  role!: OperatorRole;
}
