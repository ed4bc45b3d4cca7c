/** Under which the module offers its store: shared over Redis, or in this process. */
export const RATE_LIMIT_STORE = Symbol('RATE_LIMIT_STORE');
