import type { QueryRunner } from 'typeorm';
import { EVENT_RESOURCES, EVENT_SCHEMAS } from '../event-schemas.js';
import { EVENT_TYPES } from '../event-types.js';

/** Inserts those of the first event types that are not there yet, each with the first version of its schema. */
export async function addEventTypes(queryRunner: QueryRunner): Promise<void> {
  for (const [name, scope, publisher, description, sample] of EVENT_TYPES) {
    await queryRunner.query(
      `WITH added AS (
         INSERT INTO event_types (name, scope, publisher, description, sample, resource)
         VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (name) DO NOTHING RETURNING name
       )
       INSERT INTO event_type_versions (type, version, schema) SELECT name, 1, $7 FROM added`,
      [
        name,
        scope,
        publisher,
        description,
        JSON.stringify(sample),
        EVENT_RESOURCES[name],
        JSON.stringify(EVENT_SCHEMAS[name]),
      ],
    );
  }
}
