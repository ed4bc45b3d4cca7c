export const OPERATOR_ROLES = ['viewer', 'support', 'admin'] as const;

/** What an operator may do (contract §17), each role more than the one before. */
export type OperatorRole = (typeof OPERATOR_ROLES)[number];

/**
 * Whether the role may do what requires at least `least` (contract §17): each may do more than the one before. None, and one that is not
 * known, may do nothing.
 */
export const roleIncludes = (role: OperatorRole | null, least: OperatorRole): boolean =>
  role !== null && OPERATOR_ROLES.indexOf(role) >= OPERATOR_ROLES.indexOf(least);

/** What someone is told whose role is not enough. */
export const roleNeeded = (least: OperatorRole): string => `This requires the role ${least}.`;

/** Whether a role may do more than another; null is no role. */
export const isHigher = (role: OperatorRole | null, than: OperatorRole | null): boolean =>
  role !== null && (than === null || !roleIncludes(than, role));
