/** Rolls back the change of a browser that was logged out while the change waited; its visitor is led to the login. */
export class NoLongerSignedIn extends Error {}
