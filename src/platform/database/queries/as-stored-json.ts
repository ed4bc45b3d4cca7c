/** A value of a JSON column as it comes back from the database, but for the order of members; undefined stays. */
export const asStoredJson = (value: unknown): unknown =>
  value === undefined ? undefined : JSON.parse(JSON.stringify(value));
