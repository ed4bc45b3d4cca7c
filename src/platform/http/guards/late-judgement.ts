import type { FastifyReply, FastifyRequest } from 'fastify';

/** Contract §4: how long after its revocation a token may still be accepted. */
const LATE_MS = 100;

/** Admits requests by something that can end while they run, such as a token. */
export interface Judge {
  /** Throws if the request would no longer be admitted now. */
  judgeAgain(request: FastifyRequest): Promise<void>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What admitted the request. */
    judge?: Judge;
  }
}

/** Whether a response took so long that what it relies on may have ended in the meantime. */
export const isLate = ({ elapsedTime }: FastifyReply): boolean => elapsedTime > LATE_MS;

/**
 * The judge that must check the request again before its response is sent, because it took (for example waiting for the database)
 * longer than its admission may be relied on. Undefined for almost all requests, and for refusals.
 */
export function lateJudgeOf(request: FastifyRequest, reply: FastifyReply): Judge | undefined {
  const { judge } = request;
  return judge && reply.statusCode < 400 && isLate(reply) ? judge : undefined;
}
