import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { SETTLED_BELOW, type CommitPlace } from '#platform/database/queries/in-order-of-commits.js';
import { InputRows } from '#platform/database/queries/input-rows.js';
import { RequestRecordEntity, type NewRequestRecord } from './request-record.entity.js';

const NEW = new InputRows<NewRequestRecord>({
  text: ['requestId', 'method', 'route', 'error', 'refusedKind', 'refused', 'clientId'],
  int: ['status', 'milliseconds'],
  boolean: ['injected'],
  timestamptz: ['occurredAt'],
});

@Injectable()
export class RequestRecordsRepository {
  constructor(
    @InjectRepository(RequestRecordEntity) private readonly records: Repository<RequestRecordEntity>,
  ) {}

  /** Up to `limit` requests with this id, of one client or of any, newest first. */
  withId(requestId: string, clientId: string | undefined, limit: number): Promise<RequestRecordEntity[]> {
    return this.records.find({
      where: { requestId, ...(clientId === undefined ? {} : { clientId }) },
      order: { occurredAt: 'DESC', id: 'DESC' },
      take: limit,
    });
  }

  /**
   * Up to `limit` refusals after a place, in the order of their commits, or undefined if no transaction has reached the place. In
   * SQL: TypeORM does not support `xid8`.
   */
  async refusalsAfter(
    { xid, id }: CommitPlace,
    limit: number,
  ): Promise<{ place: CommitPlace; row: RequestRecordEntity }[] | undefined> {
    const rows: (RequestRecordEntity & { xid: string | null; isAhead: boolean })[] = await this.records.query(
      `SELECT s.ahead AS "isAhead", r.xid::text AS xid, r.id::text AS id, r.occurred_at AS "occurredAt", r.request_id AS "requestId",
              r.method, r.route, r.status, r.error, r.refused_kind AS "refusedKind", r.refused, r.client_id AS "clientId",
              r.milliseconds, r.injected
         FROM (SELECT $1::xid8 >= pg_snapshot_xmax(pg_current_snapshot()) AS ahead) s
         LEFT JOIN LATERAL (
           SELECT * FROM request_records
            WHERE status >= 400 AND (xid, id) > ($1::xid8, $2::bigint) AND xid < ${SETTLED_BELOW}
            ORDER BY xid, id LIMIT $3
         ) r ON true
        ORDER BY r.xid, r.id`,
      [xid, id, limit],
    );
    if (rows[0]!.isAhead) return undefined;
    return rows.flatMap(({ isAhead: _, xid: number, ...row }) =>
      number === null ? [] : [{ place: { xid: number, id: row.id }, row }],
    );
  }

  /** Refusals from a restored database with transaction numbers that this server has not reached yet get lower numbers. */
  async adoptRestored(): Promise<void> {
    await this.records.query(
      `UPDATE request_records SET xid = pg_current_xact_id()
        WHERE status >= 400 AND xid >= pg_snapshot_xmax(pg_current_snapshot())`,
    );
  }

  /** In SQL, because one statement writes many rows. */
  async insert(records: NewRequestRecord[]): Promise<void> {
    await this.records.query(
      `INSERT INTO request_records (${NEW.columns}) SELECT * FROM unnest(${NEW.arrays}) AS r (${NEW.columns})`,
      NEW.parameters(records),
    );
  }
}
