/** Contract §1: the limit of a request's body, the same for all routes but those that take files. */
export const BODY_LIMIT_BYTES = 65_536;

/** The limit as text. */
export const BODY_LIMIT = `${BODY_LIMIT_BYTES / 1024} kB`;

/** The same for routes that take a file: the largest file, and a form around it. */
export const UPLOAD_LIMIT_BYTES = 1_048_576 + BODY_LIMIT_BYTES;
