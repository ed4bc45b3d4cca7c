import { EVENT_SCHEMAS } from '../../migrations/event-schemas.js';
import type { Schema } from './openapi.js';

/** The name of the schema of an event type's `data` in the document. */
const nameOf = (eventType: string): string =>
  `${eventType.replace(/(?:^|[._])(.)/g, (_match, letter: string) => letter.toUpperCase())}Data`;

/** The schemas of the first catalogue, by their names in the document (contract §21). */
export const EVENT_DATA_SCHEMAS: Record<string, Schema> = Object.fromEntries(
  Object.entries(EVENT_SCHEMAS).map(([type, { $schema: _dialect, ...schema }]) => [nameOf(type), schema]),
);

/** A reference to the schema of an event's `data`. */
export const dataSchemaOf = (eventType: string): Schema => ({
  $ref: `#/components/schemas/${nameOf(eventType)}`,
});
