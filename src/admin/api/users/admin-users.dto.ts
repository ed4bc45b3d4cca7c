import { ApiProperty } from '@nestjs/swagger';
import { OPERATOR_ROLES, type OperatorRole } from '../../../config/operator-role.js';
import { PageQuery } from '../../../http/api/page-query.js';
import { USER_KINDS, USER_ROLES, type UserKind, type UserRole } from '../../../users/accounts/user.entity.js';
import { LANGUAGES, type Language } from '../../../language/languages.js';
import { ENVIRONMENTS, type Environment } from '../../../users/accounts/environment.js';
import type { NewUser, UserChanges } from '../../../users/accounts/user-changes.js';
import {
  IsEmailAddress,
  IsOneOf,
  IsPassword,
  IsSearch,
  IsTrueOrFalse,
  IsVisibleText,
  IsOptionalNotNull,
  MayBeNull,
  Fixed,
} from '../../../http/validation/validation.decorators.js';

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
export class NewUserDto {
  @IsEmailAddress()
  email!: string;

  @IsVisibleText(1, 200)
  name!: string;

  @ApiProperty({ description: 'In which mail is written; null if it is not known.' })
  @MayBeNull()
  @IsOneOf(...LANGUAGES)
  language?: Language | null;

  @IsOptionalNotNull()
  @IsOneOf(...USER_KINDS)
  kind?: UserKind;

  @IsOptionalNotNull()
  @IsPassword()
  password?: string;

  @IsOptionalNotNull()
  @IsOneOf(...USER_ROLES)
  role?: UserRole;

  @ApiProperty({ description: 'Only with the role `operator`; without it, an operator is an `admin`.' })
  @IsOptionalNotNull()
  @IsOneOf(...OPERATOR_ROLES)
  operator_role?: OperatorRole;

  @ApiProperty({ description: 'Whether clients of this owner may open the webhook portal; default true.' })
  @IsOptionalNotNull()
  @IsTrueOrFalse()
  webhooks_enabled?: boolean;

  @ApiProperty({ description: 'True if you vouch that the address is the user’s; default false.' })
  @IsOptionalNotNull()
  @IsTrueOrFalse()
  email_verified?: boolean;
}

/** Body of `PATCH /admin/users/{id}`: omitted members stay unchanged. */
export class UserChangesDto {
  @IsOptionalNotNull()
  @IsEmailAddress()
  email?: string;

  @IsOptionalNotNull()
  @IsVisibleText(1, 200)
  name?: string;

  @ApiProperty({ description: 'In which mail is written; null if it is not known.' })
  @MayBeNull()
  @IsOneOf(...LANGUAGES)
  language?: Language | null;

  @IsOptionalNotNull()
  @IsOneOf(...USER_KINDS)
  kind?: UserKind;

  @IsOptionalNotNull()
  @IsPassword()
  password?: string;

  @IsOptionalNotNull()
  @IsOneOf(...USER_ROLES)
  role?: UserRole;

  @ApiProperty({
    description:
      'Only for operators. Who becomes an operator without it is an `admin`; who is one already keeps the role.',
  })
  @IsOptionalNotNull()
  @IsOneOf(...OPERATOR_ROLES)
  operator_role?: OperatorRole;

  @IsOptionalNotNull()
  @IsTrueOrFalse()
  webhooks_enabled?: boolean;

  @IsOptionalNotNull()
  @IsTrueOrFalse()
  enabled?: boolean;

  @ApiProperty({ description: 'True if you vouch that the address, also a new one, is the user’s.' })
  @IsOptionalNotNull()
  @IsTrueOrFalse()
  email_verified?: boolean;

  @Fixed('user')
  environment?: never;
}

export const toNewUser = ({
  webhooks_enabled,
  operator_role,
  email_verified,
  ...same
}: NewUserDto): NewUser => ({
  ...same,
  operatorRole: operator_role,
  emailVerified: email_verified,
  webhooksEnabled: webhooks_enabled,
});

export const toUserChanges = ({
  webhooks_enabled,
  operator_role,
  email_verified,
  ...same
}: UserChangesDto): UserChanges => ({
  ...same,
  operatorRole: operator_role,
  emailVerified: email_verified,
  webhooksEnabled: webhooks_enabled,
});
