import type { OperatorRole } from '#platform/config/operator-role.js';
import type { InvitationEntity } from './invitation.entity.js';
import type { MemberRole } from './member.js';
import { emailKeyOf } from '#access/users/accounts/email.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';

/** Whether this account may accept the invitation: it has the invited address, verified. */
export const isFor = (invitation: { email: string }, user: UserEntity | null): user is UserEntity =>
  user !== null &&
  user.enabled &&
  user.emailVerifiedAt !== null &&
  emailKeyOf(user.email) === emailKeyOf(invitation.email);

/** Rolls back the use of an invitation that the visitor may not accept. */
export class NotForThem extends Error {}

type Common = Pick<InvitationEntity, 'id' | 'email' | 'createdAt' | 'expiresAt'>;

/** An invitation as its organisation sees it. */
export type MemberInvitation = Common & { organisationId: string; role: MemberRole; invitedBy: null };

/** An invitation to become an operator. */
export type OperatorInvitation = Common & { organisationId: null; role: OperatorRole; invitedBy: string };

export type Invitation = MemberInvitation | OperatorInvitation;

/** An invitation to insert, by an organisation or by an admin; the database refuses every other combination. */
export type NewInvitation =
  | Pick<MemberInvitation, 'organisationId' | 'email' | 'role'>
  | Pick<OperatorInvitation, 'organisationId' | 'email' | 'role' | 'invitedBy'>;

/** The contents of a consumed invitation. */
export type UsedInvitation = Pick<Invitation, 'id' | 'email' | 'role'>;
