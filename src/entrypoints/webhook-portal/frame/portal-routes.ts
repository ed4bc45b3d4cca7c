import { RouteRoles } from '#platform/http/page-routes/route-roles.js';
import { memberRoleIncludes, type MemberRole } from '#events/partners/members/member.js';

/**
 * The routes of the portal with the least role of a member that may use them (contract §20). What requires an admin also requires recent
 * authentication (`portal.guard.ts`).
 */
export const PORTAL_ROUTES = new RouteRoles<MemberRole>(memberRoleIncludes, 'admin');
