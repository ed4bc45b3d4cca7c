// SQL conditions on the operator role of a client (`c`) with its owner (`o`).

/**
 * Whether the client has a scope for operators. This never changes, because neither its scopes nor the audience of a scope in use
 * can change.
 */
export const HAS_OPERATOR_SCOPE =
  "(c.scopes && ARRAY(SELECT s.name FROM scopes s WHERE s.audience = 'operator'))";

/** The role: that of its owner, or admin for a service of the company; null for none. */
export const OPERATOR_ROLE = "CASE WHEN c.company_service THEN 'admin' ELSE o.operator_role END";

/** False for a client with operator scopes for which nobody is responsible: it does not work. */
export const IS_BACKED = `(c.company_service OR o.operator_role IS NOT NULL OR NOT ${HAS_OPERATOR_SCOPE})`;
