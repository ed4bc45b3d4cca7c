/** The scope that allows a client to introspect tokens, and to follow changes to access. */
export const INTROSPECTION_SCOPE = 'token:introspect';
