import type { Environment } from '#access/users/accounts/environment.js';

/** A client of an organisation, as its members see it. */
export interface MemberClient {
  id: string;
  name: string;
  environment: Environment;
  redirectUris: string[];
  organisationId: string;
  organisationName: string;
}

/** What a member of an organisation may do in its portal (contract §20), the least first. */
export const MEMBER_ROLES = ['viewer', 'developer', 'admin'] as const;
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** Whether a role may do what at least `least` may. */
export const memberRoleIncludes = (role: MemberRole, least: MemberRole): boolean =>
  MEMBER_ROLES.indexOf(role) >= MEMBER_ROLES.indexOf(least);

export const isMemberRole = (text: string | undefined): text is MemberRole =>
  MEMBER_ROLES.some((role) => role === text);

/** A member with the name and the address of the account. */
export interface Member {
  userId: string;
  name: string;
  email: string;
  role: MemberRole;
  createdAt: Date;
}
