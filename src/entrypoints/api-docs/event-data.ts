import { EVENT_SCHEMAS } from '../../../migrations/event-schemas.js';
import type { Schema } from './openapi.js';

/** The name of the schema of an event type's `data` in the document. */
export const dataSchemaName = (eventType: string): string =>
  `${eventType.replace(/(?:^|[._])(.)/g, (_match, letter: string) => letter.toUpperCase())}Data`;

/** A schema without its dialect, which is that of the document. */
export const withoutDialect = ({ $schema: _dialect, ...schema }: Schema): Schema => schema;

/** The schemas of the first catalogue, by their names in the document (contract §21). */
export const EVENT_DATA_SCHEMAS: Record<string, Schema> = Object.fromEntries(
  Object.entries(EVENT_SCHEMAS).map(([type, schema]) => [dataSchemaName(type), withoutDialect(schema)]),
);
