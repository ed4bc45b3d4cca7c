import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify';
import { guarded, type AccessGuard } from './access-guard.js';
import type { Access } from './introspection.js';
import { AccessRefusal } from './refusal.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** What the token of the request may do; set by `requireAccess`. */
    access?: Access;
  }
}

/** What a route needs. */
export interface FastifyNeeds {
  scopes?: readonly string[];
  /** The id of the user whose data the request asks for; a request for which it returns undefined is refused. */
  userId?: (request: FastifyRequest) => string | undefined;
}

/** A hook (`preValidation` or `onRequest`) that admits requests whose token may do what is needed and refuses all others. */
export const requireAccess =
  (guard: AccessGuard, { scopes, userId }: FastifyNeeds = {}) =>
  async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    try {
      request.access = await guard.authorize(
        // As it came, before `rewriteUrl`.
        guarded(request.raw, request.originalUrl),
        { scopes, userId: userId && (userId(request) ?? '') },
      );
      return undefined;
    } catch (error) {
      if (!(error instanceof AccessRefusal)) throw error;
      return reply.status(error.status).headers(error.headers).send(error.body);
    }
  };

/** Serves the metadata of the guarded service (RFC 9728), and closes the guard with the server. */
export const accessGuardPlugin =
  (guard: AccessGuard): FastifyPluginCallback =>
  (fastify, _options, done) => {
    fastify.get(guard.metadataPath, (_request, reply) =>
      reply
        .headers({ 'access-control-allow-origin': '*', 'cache-control': 'max-age=3600' })
        .send(guard.metadata),
    );
    fastify.addHook('onClose', (_instance, closed) => {
      void guard.close().finally(closed);
    });
    done();
  };
