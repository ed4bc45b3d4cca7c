import type { MemberRole } from './member-role.js';

/** A member with the name and the address of the account. */
export interface Member {
  userId: string;
  name: string;
  email: string;
  role: MemberRole;
  createdAt: Date;
}
