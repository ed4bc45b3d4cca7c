import type { OperatorRole } from '#platform/config/operator-role.js';
import type { InvitationEntity } from './invitation.entity.js';
import type { MemberRole } from './member-role.js';

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
