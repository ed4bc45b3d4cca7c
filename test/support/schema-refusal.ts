import { acceptSchema, SchemaError } from '#events/webhooks/event-types/event-schema.js';

/** Why the schema of an event type is refused; `accepted` if it is not. */
export function schemaRefusal(schema: Record<string, unknown>): string {
  try {
    acceptSchema(schema);
    return 'accepted';
  } catch (error) {
    expect(error).toBeInstanceOf(SchemaError);
    return (error as Error).message;
  }
}
