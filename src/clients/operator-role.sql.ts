// SQL that decides what a client (`c`) with its owner (`o`) may do as an operator, for the statements that depend on it.

/** Whether the client has a scope for operators. It does not change: nor do its scopes, nor the audience of a scope that is held. */
export const HAS_OPERATOR_SCOPE =
  "(c.scopes && ARRAY(SELECT s.name FROM scopes s WHERE s.audience = 'operator'))";

/** The role: that of its owner, or all as a service of the company; null for none. */
export const OPERATOR_ROLE = "CASE WHEN c.company_service THEN 'admin' ELSE o.operator_role END";

/** False for a client with operator scopes behind which nobody stands: it may do nothing. */
export const IS_BACKED = `(c.company_service OR o.operator_role IS NOT NULL OR NOT ${HAS_OPERATOR_SCOPE})`;
