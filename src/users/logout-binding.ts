/** What the CSRF tokens of log-out forms are bound to, whichever page they stand on. */
export const LOGOUT_BINDING = 'logout';
