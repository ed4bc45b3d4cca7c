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
