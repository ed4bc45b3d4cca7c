/** The scope that allows a client to introspect tokens, and to follow what changes them. */
export const INTROSPECTION_SCOPE = 'token:introspect';
