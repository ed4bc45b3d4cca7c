import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { OPERATOR_ROLES, type OperatorRole } from '#platform/config/operator-role.js';
import { PageQuery } from '#platform/http/api/page-query.js';
import {
  Fixed,
  IsOneOf,
  IsOptionalNotNull,
  IsSearch,
} from '#platform/http/validation/validation.decorators.js';
import { ENVIRONMENTS, type Environment } from '#access/users/accounts/environment.js';
import { USER, userFieldsOf } from '#access/users/accounts/user.resource.js';
import { flag, orNull, time, whole } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import type { SecondFactorState } from '#access/users/factors/second-factor.service.js';
import type { AccountDeletionEntity } from '#access/users/closing/account-deletion.entity.js';

/** Query of `GET /admin/users`. */
export class UsersQuery extends PageQuery {
  @ApiProperty({ description: 'Part of the name or email, with at least three letters or digits, or an id.' })
  @IsOptionalNotNull()
  @IsSearch(200)
  q?: string;

  @ApiProperty({ description: 'Only operators with this role.' })
  @IsOptionalNotNull()
  @IsOneOf(...OPERATOR_ROLES)
  operator_role?: OperatorRole;

  @ApiProperty({ description: 'By default live: the drivers of sandboxes are listed only on request.' })
  @IsOptionalNotNull()
  @IsOneOf(...ENVIRONMENTS)
  environment?: Environment;
}

/** Body of `POST /admin/users`. */
export class NewUserDto extends USER.newBody() {}

/** Body of `PATCH /admin/users/{id}`: omitted members stay unchanged. */
export class UserChangesDto extends USER.changesBody() {
  @Fixed('user') environment?: never;
}

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
  @ApiProperty({ type: SecondFactorView }) second_factor!: SecondFactorView;

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
