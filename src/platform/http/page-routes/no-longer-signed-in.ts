/** Rolls back a change if the browser was logged out while the change waited; the visitor is redirected to the login. */
export class NoLongerSignedIn extends Error {}
