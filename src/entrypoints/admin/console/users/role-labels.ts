import type { OperatorRole } from '#platform/config/operator-role.js';

/** The labels of the operator roles in forms. */
export const ROLE_LABELS: Record<OperatorRole, string> = {
  viewer: 'Viewer: sees everything except secrets, and changes nothing',
  support: 'Support: also helps users who are not operators',
  admin: 'Admin: everything',
};
