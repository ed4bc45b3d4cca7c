/** Contract §1: the limit of a request's body, the same for all routes. */
export const BODY_LIMIT_BYTES = 65_536;

/** The limit as people read it. */
export const BODY_LIMIT = `${BODY_LIMIT_BYTES / 1024} kB`;
