import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { OPERATOR_ROLES, type OperatorRole } from '../../../config/operator-role.js';
import { flag, idOf, oneOf, orNull, text, time, whole } from '../../../http/api/api-schemas.js';
import {
  USER_KINDS,
  USER_ROLES,
  type UserEntity,
  type UserKind,
  type UserRole,
} from '../../../users/accounts/user.entity.js';
import { LANGUAGES, type Language } from '../../../language/languages.js';
import { ENVIRONMENTS, type Environment } from '../../../users/accounts/environment.js';
import type { SecondFactorState } from '../../../users/factors/second-factor.service.js';

/** What a user has besides the password. */
@ApiSchema({ name: 'SecondFactor' })
export class SecondFactorView {
  @ApiProperty(whole('Passkeys.'))
  passkeys!: number;

  @ApiProperty(flag('Whether an authenticator app is set up.'))
  authenticator_app!: boolean;

  @ApiProperty(whole('Recovery codes that were not used yet.'))
  recovery_codes_left!: number;
}

/** A user on the wire; never with a password or its hash. */
@ApiSchema({ name: 'User' })
export class UserView {
  @ApiProperty(idOf('user'))
  id!: string;

  @ApiProperty(text(undefined, { example: 'ada@example.com' }))
  email!: string;

  @ApiProperty(flag('Whether the user has shown, or an operator vouches, that the address is theirs.'))
  email_verified!: boolean;

  @ApiProperty(text(undefined, { example: 'Ada Lovelace' }))
  name!: string;

  @ApiProperty(orNull(oneOf(...LANGUAGES)))
  language!: Language | null;

  @ApiProperty(oneOf(...USER_KINDS))
  kind!: UserKind;

  @ApiProperty(oneOf(...USER_ROLES))
  role!: UserRole;

  @ApiProperty(orNull(oneOf(...OPERATOR_ROLES)))
  operator_role!: OperatorRole | null;

  @ApiProperty(flag('Whether clients of this owner may open the webhook portal.'))
  webhooks_enabled!: boolean;

  @ApiProperty(flag())
  enabled!: boolean;

  @ApiProperty(oneOf(...ENVIRONMENTS))
  environment!: Environment;

  @ApiProperty(orNull(idOf('user', 'The owner whose sandbox a driver belongs to; null for everybody else.')))
  sandbox_owner_id!: string | null;

  @ApiProperty(time())
  created_at!: string;

  @ApiProperty(time())
  updated_at!: string;
}

/** One user, with the second factor. */
@ApiSchema({ name: 'UserDetails' })
export class UserDetailsView extends UserView {
  @ApiProperty({ type: SecondFactorView })
  second_factor!: SecondFactorView;
}

export const userDetailsView = (user: UserEntity, state: SecondFactorState): UserDetailsView => ({
  ...userView(user),
  second_factor: {
    passkeys: state.passkeys,
    authenticator_app: state.authenticatorApp,
    recovery_codes_left: state.recoveryCodesLeft,
  },
});

export const userView = (user: UserEntity): UserView => ({
  id: user.id,
  email: user.email,
  email_verified: user.emailVerifiedAt !== null,
  name: user.name,
  language: user.language,
  kind: user.kind,
  role: user.role,
  operator_role: user.operatorRole,
  webhooks_enabled: user.webhooksEnabled,
  enabled: user.enabled,
  environment: user.environment,
  sandbox_owner_id: user.sandboxOwnerId,
  created_at: user.createdAt.toISOString(),
  updated_at: user.updatedAt.toISOString(),
});
