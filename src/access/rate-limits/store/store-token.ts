/** The injection token of the store: shared over Redis, or local. */
export const RATE_LIMIT_STORE = Symbol('RATE_LIMIT_STORE');
