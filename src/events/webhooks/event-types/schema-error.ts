/** A schema that is not accepted; the message says why. */
export class SchemaError extends Error {}
