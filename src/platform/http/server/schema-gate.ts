import type { FastifyInstance } from 'fastify';
import type { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';
import { serviceUnavailable } from '../problems/problem.js';
import { say } from '#platform/language/text.js';

/** Refuses requests with a 503 problem once the schema requires a newer build; newer instances serve them. */
export function addSchemaGate(fastify: FastifyInstance, schema: SchemaCompatibility): void {
  fastify.addHook('preParsing', (request, _reply, payload, done) => {
    if (!schema.isOutdated || request.routeOptions.config?.servesAnySchema) return done(null, payload);
    done(
      serviceUnavailable(say('This instance is being replaced by a newer one. Please try again shortly.'), {
        headers: { 'retry-after': '2', connection: 'close' },
      }),
    );
  });
}
