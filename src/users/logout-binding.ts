/** The CSRF binding of logout forms, on whichever page they are. */
export const LOGOUT_BINDING = 'logout';
