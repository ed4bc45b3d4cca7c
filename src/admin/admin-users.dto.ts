import { PageQuery } from '../http/paging.js';
import { USER_KINDS, USER_ROLES, type UserKind, type UserRole } from '../users/user.entity.js';
import type { NewUser, UserChanges } from '../users/users.service.js';
import {
  IsEmailAddress,
  IsOneOf,
  IsPassword,
  IsText,
  IsTrueOrFalse,
  IsVisibleText,
  MayBeLeftOut,
} from '../http/member-rules.decorator.js';

/** Query of `GET /admin/users`. */
export class UsersQuery extends PageQuery {
  /** A part of the name or e-mail address, or an id. */
  @MayBeLeftOut()
  @IsText(1, 200)
  q?: string;
}

/** Body of `POST /admin/users`. */
export class NewUserDto {
  @IsEmailAddress()
  email!: string;

  @IsVisibleText(1, 200)
  name!: string;

  @MayBeLeftOut()
  @IsOneOf(...USER_KINDS)
  kind?: UserKind;

  @MayBeLeftOut()
  @IsPassword()
  password?: string;

  @MayBeLeftOut()
  @IsOneOf(...USER_ROLES)
  role?: UserRole;

  /** Whether clients of this owner may open the webhook portal; true unless said. */
  @MayBeLeftOut()
  @IsTrueOrFalse()
  webhooks_enabled?: boolean;
}

/** Body of `PATCH /admin/users/{id}`: what is left out stays as it is. */
export class UserChangesDto {
  @MayBeLeftOut()
  @IsEmailAddress()
  email?: string;

  @MayBeLeftOut()
  @IsVisibleText(1, 200)
  name?: string;

  @MayBeLeftOut()
  @IsOneOf(...USER_KINDS)
  kind?: UserKind;

  @MayBeLeftOut()
  @IsPassword()
  password?: string;

  @MayBeLeftOut()
  @IsOneOf(...USER_ROLES)
  role?: UserRole;

  @MayBeLeftOut()
  @IsTrueOrFalse()
  webhooks_enabled?: boolean;

  @MayBeLeftOut()
  @IsTrueOrFalse()
  enabled?: boolean;
}

export const toNewUser = ({ webhooks_enabled, ...same }: NewUserDto): NewUser => ({
  ...same,
  webhooksEnabled: webhooks_enabled,
});

export const toUserChanges = ({ webhooks_enabled, ...same }: UserChangesDto): UserChanges => ({
  ...same,
  webhooksEnabled: webhooks_enabled,
});
