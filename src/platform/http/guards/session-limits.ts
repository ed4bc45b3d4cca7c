import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isForPerson } from '../server/route-options.js';

/** Who is limited together: the sessions of an account, or those that one-time links to the portal of a client have opened. */
export type SessionHolder = `user ${string}` | `client ${string}`;

declare module 'fastify' {
  interface FastifyRequest {
    /** For whom the request was counted by its sessions. */
    countedHolders?: SessionHolder[];
  }
}

/** The limit of requests with a session (contract §7), as an interface for modules below the one that implements it. */
export abstract class SessionLimits {
  /**
   * Counts the request for the holders of its sessions, as far as this instance has looked them up within the last minute; undefined if
   * there are none. Rejects with a 429 problem over the limit.
   */
  abstract countKnown(request: FastifyRequest): Promise<void> | undefined;
  /** Counts the request for the holder of a session that was found, unless it was counted; throws a 429 problem over the limit. */
  abstract countFound(request: FastifyRequest, digest: Buffer, holder: SessionHolder): Promise<void>;
}

/**
 * Counts requests of pages and to unknown addresses for their sessions before anything is read or looked up. A session that is not
 * known yet is counted by whoever looks it up.
 */
export function addSessionLimits(fastify: FastifyInstance, limits: SessionLimits): void {
  fastify.addHook('preParsing', (request, _reply, payload, done) => {
    const counted = isForPerson(request) ? limits.countKnown(request) : undefined;
    if (!counted) return done(null, payload);
    counted.then(
      () => done(null, payload),
      (refusal: Error) => done(refusal),
    );
  });
}
