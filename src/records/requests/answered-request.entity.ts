import type { FastifyReply, FastifyRequest } from 'fastify';
import { Column, PrimaryColumn } from 'typeorm';
import { TextOrNull } from '#platform/database/entities/columns.js';

/** The columns that both logs of requests have in common; of the URL only the route. */
export abstract class AnsweredRequest {
  @PrimaryColumn('bigint') id!: string;

  abstract occurredAt: Date;

  /** Chosen by the caller, so several requests may have the same one. */
  @Column('text') requestId!: string;
  @Column('text') method!: string;
  /** The pattern of the path. */
  @Column('text') route!: string;
  @Column('integer') status!: number;
  /** The slug of the problem, or the OAuth error code. */
  @TextOrNull() error!: string | null;
  @Column('integer') milliseconds!: number;
  /** Whether the sandbox made it fail on request (contract §19). */
  @Column('boolean') injected!: boolean;
}

/** Of a request that was answered just now. */
export const answeredRequest = (
  request: FastifyRequest,
  reply: FastifyReply,
): Omit<AnsweredRequest, 'id'> => ({
  occurredAt: new Date(),
  requestId: request.id,
  method: request.method,
  route: request.routeOptions.url ?? '(none)',
  status: reply.statusCode,
  error: request.errorCode ?? null,
  milliseconds: Math.round(reply.elapsedTime),
  injected: request.sandboxFault !== undefined,
});
