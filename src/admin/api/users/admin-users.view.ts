import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { flag, idOf, oneOf, text, time } from '../../../http/api/api-schemas.js';
import {
  USER_KINDS,
  USER_ROLES,
  type UserEntity,
  type UserKind,
  type UserRole,
} from '../../../users/accounts/user.entity.js';

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

  @ApiProperty(oneOf(...USER_KINDS))
  kind!: UserKind;

  @ApiProperty(oneOf(...USER_ROLES))
  role!: UserRole;

  @ApiProperty(flag('Whether clients of this owner may open the webhook portal.'))
  webhooks_enabled!: boolean;

  @ApiProperty(flag())
  enabled!: boolean;

  @ApiProperty(time())
  created_at!: string;

  @ApiProperty(time())
  updated_at!: string;
}

export const userView = (user: UserEntity): UserView => ({
  id: user.id,
  email: user.email,
  email_verified: user.emailVerifiedAt !== null,
  name: user.name,
  kind: user.kind,
  role: user.role,
  webhooks_enabled: user.webhooksEnabled,
  enabled: user.enabled,
  created_at: user.createdAt.toISOString(),
  updated_at: user.updatedAt.toISOString(),
});
