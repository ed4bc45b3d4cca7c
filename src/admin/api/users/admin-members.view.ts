import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idOf, oneOf, text, time } from '../../../http/api/api-schemas.js';
import { MEMBER_ROLES, type MemberRole } from '../../../partners/members/member-role.js';
import type { Member } from '../../../partners/members/member.js';

/** A member of an organisation, on the wire. */
@ApiSchema({ name: 'Member' })
export class MemberView {
  @ApiProperty(idOf('user'))
  user_id!: string;

  @ApiProperty(text(undefined, { example: 'Ada Example' }))
  name!: string;

  @ApiProperty(text(undefined, { format: 'email', example: 'ada@example.com' }))
  email!: string;

  @ApiProperty(oneOf(...MEMBER_ROLES))
  role!: MemberRole;

  @ApiProperty(time())
  added_at!: string;
}

export const memberView = ({ userId, name, email, role, createdAt }: Member): MemberView => ({
  user_id: userId,
  name,
  email,
  role,
  added_at: createdAt.toISOString(),
});
