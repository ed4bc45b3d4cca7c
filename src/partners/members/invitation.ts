import type { OperatorRole } from '../../config/operator-role.js';
import type { InvitationEntity } from './invitation.entity.js';
import type { MemberRole } from './member-role.js';

type Common = Pick<InvitationEntity, 'id' | 'email' | 'createdAt' | 'expiresAt'>;

/** An invitation as its organisation sees it. */
export type MemberInvitation = Common & { organisationId: string; role: MemberRole; invitedBy: null };

/** An invitation to become an operator. */
export type OperatorInvitation = Common & { organisationId: null; role: OperatorRole; invitedBy: string };

export type Invitation = MemberInvitation | OperatorInvitation;

/** Who invites, and to what; the database refuses every other combination. */
export type NewInvitation =
  | Pick<MemberInvitation, 'organisationId' | 'email' | 'role'>
  | Pick<OperatorInvitation, 'organisationId' | 'email' | 'role' | 'invitedBy'>;

/** What is left of an invitation once it is used. */
export type UsedInvitation = Pick<Invitation, 'id' | 'email' | 'role'>;
