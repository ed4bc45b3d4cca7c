import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { OPERATOR_ROLES } from '../../../config/operator-role.js';
import { flag, idOf, oneOf, orNull, text, time, whole } from '../../../http/api/api-schemas.js';
import { viewOf } from '../../../http/api/view-of.js';
import { ENVIRONMENTS } from '../../../users/accounts/environment.js';
import { USER_KINDS, USER_ROLES, type UserEntity } from '../../../users/accounts/user.entity.js';
import { LANGUAGES } from '../../../language/languages.js';
import type { SecondFactorState } from '../../../users/factors/second-factor.service.js';
import type { AccountDeletionEntity } from '../../../users/leaving/account-deletion.entity.js';

/** What a user has besides the password. */
@ApiSchema({ name: 'SecondFactor' })
export class SecondFactorView extends viewOf<SecondFactorState>()({
  passkeys: whole('Passkeys.'),
  authenticator_app: flag('Whether an authenticator app is set up.'),
  recovery_codes_left: whole('Recovery codes that were not used yet.'),
}) {}

/** A user on the wire; never with a password or its hash. */
@ApiSchema({ name: 'User' })
export class UserView extends viewOf<UserEntity>()({
  id: idOf('user'),
  email: text(undefined, { example: 'ada@example.com' }),
  email_verified: [
    flag('Whether the user has shown, or an operator vouches, that the address is theirs.'),
    ({ emailVerifiedAt }) => emailVerifiedAt !== null,
  ],
  name: text(undefined, { example: 'Ada Lovelace' }),
  language: orNull(oneOf(...LANGUAGES)),
  kind: oneOf(...USER_KINDS),
  role: oneOf(...USER_ROLES),
  operator_role: orNull(oneOf(...OPERATOR_ROLES)),
  webhooks_enabled: flag('Whether clients of this owner may open the webhook portal.'),
  enabled: flag(),
  environment: oneOf(...ENVIRONMENTS),
  sandbox_owner_id: orNull(
    idOf('user', 'The owner whose sandbox a driver belongs to; null for everybody else.'),
  ),
  created_at: time(),
  updated_at: time(),
}) {}

/** One user, with the second factor and a deletion that waits. */
@ApiSchema({ name: 'UserDetails' })
export class UserDetailsView extends UserView {
  @ApiProperty({ type: SecondFactorView })
  second_factor!: SecondFactorView;

  @ApiProperty(orNull(time('When the account is deleted, as its user asked; null: nobody asked.')))
  deletion_due_at!: string | null;
}

export const userDetailsView = (
  user: UserEntity,
  state: SecondFactorState,
  deletion: AccountDeletionEntity | null,
): UserDetailsView => ({
  ...UserView.of(user),
  second_factor: SecondFactorView.of(state),
  deletion_due_at: deletion?.dueAt.toISOString() ?? null,
});
