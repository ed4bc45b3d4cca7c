import type { FastifyReply, FastifyRequest } from 'fastify';

/** Contract §4: for how long after its end a token may be accepted. */
const LATE_MS = 100;

/** Admits requests by something that can end while they are carried out, such as a token. */
export interface Judge {
  /** Throws the refusal of a request that would not be admitted now as it was. */
  judgeAgain(request: FastifyRequest): Promise<void>;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What admitted it. */
    judge?: Judge;
  }
}

/**
 * Whether the request has to be judged again before its answer is sent: it has waited, for the database for example, longer than it may
 * rely on what it was admitted by. Undefined for almost all, and for refusals.
 */
export function lateJudgeOf(request: FastifyRequest, reply: FastifyReply): Judge | undefined {
  const { judge } = request;
  return judge && reply.statusCode < 400 && reply.elapsedTime > LATE_MS ? judge : undefined;
}
