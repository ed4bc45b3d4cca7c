import { ApiSchema } from '@nestjs/swagger';
import { idOf, oneOf, text, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import { MEMBER_ROLES } from '#events/partners/members/member-role.js';
import type { Member } from '#events/partners/members/member.js';

/** A member of an organisation, on the wire. */
@ApiSchema({ name: 'Member' })
export class MemberView extends viewOf<Member>()({
  user_id: idOf('user'),
  name: text(undefined, { example: 'Ada Example' }),
  email: text(undefined, { format: 'email', example: 'ada@example.com' }),
  role: oneOf(...MEMBER_ROLES),
  added_at: [time(), ({ createdAt }) => createdAt],
}) {}
