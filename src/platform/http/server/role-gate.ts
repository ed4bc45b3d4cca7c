import { say } from '#platform/language/text.js';
import type { FastifyInstance } from 'fastify';
import { notFound } from '../problems/problem.js';

/** An instance with `ROLE=worker` only answers its monitoring routes. */
export function addRoleGate(fastify: FastifyInstance): void {
  fastify.addHook('preParsing', (request, _reply, payload, done) => {
    if (request.routeOptions.config?.isInternal) return done(null, payload);
    done(notFound(say('This instance serves no requests. It only works on what waits in the database.')));
  });
}
