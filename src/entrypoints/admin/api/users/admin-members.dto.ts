import { IsIdOf, IsOneOf } from '#platform/http/validation/validation.decorators.js';
import { MEMBER_ROLES, type MemberRole } from '#events/partners/members/member.js';

/** Body of `PATCH /admin/users/{id}/members/{user_id}`. */
export class MemberRoleDto {
  @IsOneOf(...MEMBER_ROLES) role!: MemberRole;
}

/** Body of `POST /admin/users/{id}/members`. */
export class NewMemberDto extends MemberRoleDto {
  @IsIdOf('user', 'user') user_id!: string;
}
