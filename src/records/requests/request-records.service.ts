import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WriteBehind } from '#platform/database/background/write-behind.js';
import { inOrderOfCommits, placeOf } from '#platform/database/queries/in-order-of-commits.js';
import { cursorAhead, unknownCursor } from '#platform/http/problems/problem.js';
import { answeredRequest } from './answered-request.entity.js';
import type { NewRequestRecord, RequestRecordEntity } from './request-record.entity.js';
import { RequestRecordsRepository } from './request-records.repository.js';

// Per instance and write: enough to explain a partner's refusals, and a limit for floods.
const REFUSED_MAX = 500;
const SERVED_MAX = 10;

/** The id of a record in a cursor. */
const OURS = /^\d{1,18}$/;

/** Requests that nobody asks about: files of pages, and what watches the service. */
const UNRECORDED = /^\/(assets|health|metrics|brand)\b/;

/**
 * What operators need to say why a request was refused (contract §12): every refused request up to a bound, and some of those that were
 * served; without query strings, bodies, tokens and people. Written behind the answers; what is not yet written is lost when an instance is killed.
 */
@Injectable()
export class RequestRecordsService extends WriteBehind {
  private refused: NewRequestRecord[] = [];
  private served: NewRequestRecord[] = [];

  constructor(
    private readonly repository: RequestRecordsRepository,
    server: HttpAdapterHost,
  ) {
    super(server);
  }

  /** Up to `limit` requests with this id, of one client or of any, newest first, including what this instance has only just noted. */
  async withId(
    requestId: string,
    clientId: string | undefined,
    limit: number,
  ): Promise<RequestRecordEntity[]> {
    await this.flush();
    return this.repository.withId(requestId, clientId, limit);
  }

  /**
   * Refused requests in the order of their commits, each with the cursor that continues after it; with `follow` it never ends.
   * Throws a 400 problem for a cursor that this database did not make.
   */
  async *followRefusals(
    cursor: string | undefined,
    follow: boolean,
  ): AsyncGenerator<{ row: RequestRecordEntity; cursor: string }> {
    const from = cursor === undefined ? { xid: '0', id: '0' } : placeOf(cursor);
    if (!from || !OURS.test(from.id)) throw unknownCursor();
    await this.repository.adoptRestored();
    yield* inOrderOfCommits(from, follow, async (place, limit) => {
      const rows = await this.repository.refusalsAfter(place, limit);
      if (!rows) throw cursorAhead();
      return rows;
    });
  }

  protected override noteAnswer(request: FastifyRequest, reply: FastifyReply): void {
    const [notes, most] = reply.statusCode < 400 ? [this.served, SERVED_MAX] : [this.refused, REFUSED_MAX];
    if (notes.length >= most) return;
    const answered = answeredRequest(request, reply);
    if (UNRECORDED.test(answered.route)) return;
    const refusal =
      request.refusal ??
      (request.refusedWith && {
        kind: 'token_refused' as const,
        detail: request.refusedWith,
        clientId: undefined,
      });
    // The new members first: docs/decisions/0008.
    notes.push({
      refusedKind: refusal?.kind ?? null,
      refused: refusal?.detail ?? null,
      clientId: request.oauthClient?.id ?? request.principal?.client.id ?? refusal?.clientId ?? null,
      ...answered,
    });
  }

  protected async write(): Promise<void> {
    const records = [...this.refused, ...this.served];
    if (records.length === 0) return;
    this.refused = [];
    this.served = [];
    try {
      await this.repository.insert(records);
    } catch (error) {
      // The database is unavailable: these records are lost, and recording continues.
      this.logger.warn(`Records of requests could not be written: ${(error as Error).message}`);
    }
  }
}
