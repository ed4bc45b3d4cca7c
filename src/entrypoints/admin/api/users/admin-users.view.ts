import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { flag, orNull, time, whole } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { USER, userFieldsOf } from '#access/users/accounts/user.resource.js';
import type { SecondFactorState } from '#access/users/factors/second-factor.service.js';
import type { AccountDeletionEntity } from '#access/users/closing/account-deletion.entity.js';

/** What a user has besides the password. */
@ApiSchema({ name: 'SecondFactor' })
export class SecondFactorView extends viewOf<SecondFactorState>()({
  passkeys: whole('Passkeys.'),
  authenticator_app: flag('Whether an authenticator app is set up.'),
  recovery_codes_left: whole('Recovery codes that were not used yet.'),
}) {}

/** A user on the wire; never with a password or its hash. */
@ApiSchema({ name: 'User' })
export class UserView extends USER.viewClass() {}

export const userView = (user: UserEntity): UserView => USER.view(userFieldsOf(user));

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
  ...userView(user),
  second_factor: SecondFactorView.of(state),
  deletion_due_at: deletion?.dueAt.toISOString() ?? null,
});
