import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { readPageBySql, type Page, type PageRequest } from '../../http/paging.js';
import { firstIdAt } from '../../secrets/ids.js';
import type { Attempt, Delivery, DeliveryDetail, DeliveryState } from './delivery.js';

/** All given members must match; `from` is inclusive, `to` exclusive, both for the creation time of the delivery. */
export interface DeliveryFilter {
  clientId?: string;
  endpointId?: string;
  state?: DeliveryState;
  eventType?: string;
  from?: Date;
  to?: Date;
  recoveryId?: string;
}

/** A recovery: everything that failed between two times, resent; with its progress. */
export interface Recovery {
  id: string;
  endpointId: string;
  from: Date;
  to: Date;
  total: number;
  pending: number;
  delivered: number;
  failed: number;
  cancelled: number;
  createdAt: Date;
}

const COLUMNS = `d.id, d.event_id AS "eventId", d.event_type AS "eventType", d.endpoint_id AS "endpointId",
  e.url AS "endpointUrl",
  CASE WHEN e.deleted_at IS NOT NULL THEN 'deleted' WHEN e.enabled THEN 'enabled' ELSE 'disabled' END AS "endpointState",
  d.client_id AS "clientId", d.state, d.cancel_reason AS "cancelReason", d.attempts,
  d.next_attempt_at AS "nextAttemptAt", d.created_at AS "createdAt", d.finished_at AS "finishedAt", v.test AS "isTest",
  a.status AS "lastStatus", a.failure AS "lastFailure", a.attempted_at AS "lastAttemptAt"`;
const SOURCES = `deliveries d
  JOIN webhook_endpoints e ON e.id = d.endpoint_id
  JOIN events v ON v.id = d.event_id
  LEFT JOIN delivery_attempts a ON a.delivery_id = d.id AND a.number = d.attempts`;

/**
 * Whether the client may see the payload (contract §11.4): it was delivered, or the client may read it now, or the event needs no
 * consent. Tests are about nobody.
 */
const MAY_BE_SHOWN = `(
  v.test
  OR EXISTS (SELECT 1 FROM event_types t WHERE t.name = v.type AND t.scope IS NULL)
  OR EXISTS (SELECT 1 FROM delivery_attempts s WHERE s.delivery_id = d.id AND s.status BETWEEN 200 AND 299)
  OR EXISTS (SELECT 1 FROM event_types t
               JOIN clients c ON c.id = d.client_id AND t.scope = ANY (c.scopes)
               JOIN consents n ON n.client_id = c.id AND n.user_id = v.user_id AND n.revoked_at IS NULL AND t.scope = ANY (n.scopes)
              WHERE t.name = v.type))`;

@Injectable()
export class DeliveriesRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** One page, newest first. */
  list(filter: DeliveryFilter, page: PageRequest): Promise<Page<Delivery>> {
    return readPageBySql(page, 'd.id', 'desc', (part) => {
      const params: unknown[] = [];
      const { where, orderAndLimit } = part(params);
      return this.dataSource.query(
        `SELECT ${COLUMNS} FROM ${SOURCES}
          WHERE ${[...conditionsOf(filter, params), where].join(' AND ')} ${orderAndLimit}`,
        params,
      );
    });
  }

  /** With a `clientId`, only that client's delivery, and its payload only if the client may see it. */
  async find(id: string, clientId: string | undefined): Promise<DeliveryDetail | undefined> {
    const params: unknown[] = [id];
    const conditions = ['d.id = $1', ...conditionsOf({ clientId }, params)].join(' AND ');
    const mayBeShown = clientId === undefined ? 'true' : MAY_BE_SHOWN;
    const [rows, attemptList]: [Omit<DeliveryDetail, 'attemptList'>[], Attempt[]] = await Promise.all([
      this.dataSource.query(
        `SELECT *, CASE WHEN "payloadHidden" IS NULL THEN body END AS payload
           FROM (SELECT ${COLUMNS}, v.user_id AS "userId", v.payload AS body,
                        CASE WHEN v.payload IS NULL THEN 'erased' WHEN NOT ${mayBeShown} THEN 'not_consented' END AS "payloadHidden"
                   FROM ${SOURCES} WHERE ${conditions}) AS found`,
        params,
      ),
      this.dataSource.query(
        `SELECT number, attempted_at AS "attemptedAt", duration_ms AS "durationMs", status, failure, detail,
                response_start AS "responseStart", signature
           FROM delivery_attempts WHERE delivery_id = $1 ORDER BY number`,
        [id],
      ),
    ]);
    return rows[0] && { ...rows[0], attemptList };
  }

  /** Whether no attempt is pending; also true for an unknown id. */
  async isFinished(id: string): Promise<boolean> {
    const pending = await this.dataSource.query(
      `SELECT 1 FROM deliveries WHERE id = $1 AND state = 'pending'`,
      [id],
    );
    return pending.length === 0;
  }

  /**
   * Restarts a delivery's schedule, due immediately. False while an attempt is running, for a deleted endpoint, and if its user
   * was erased.
   */
  async resend(manager: EntityManager, id: string): Promise<boolean> {
    const [, count]: [unknown[], number] = await manager.query(
      `UPDATE deliveries d
          SET state = 'pending', cancel_reason = NULL, retries = 0, next_attempt_at = now(), finished_at = NULL
         FROM webhook_endpoints e
        WHERE d.id = $1 AND d.lease_id IS NULL AND NOT d.erased AND e.id = d.endpoint_id AND e.deleted_at IS NULL`,
      [id],
    );
    return count === 1;
  }

  /** The number of an endpoint's failed deliveries that were created between the two times. */
  async countFailed(clientId: string, endpointId: string, from: Date, to: Date): Promise<number> {
    const params: unknown[] = [];
    const conditions = conditionsOf({ clientId, endpointId, state: 'failed', from, to }, params);
    const [row]: { count: number }[] = await this.dataSource.query(
      `SELECT count(*)::int AS count FROM deliveries d WHERE ${conditions.join(' AND ')} AND NOT d.erased`,
      params,
    );
    return row!.count;
  }

  /** Resends up to `limit` failed deliveries for a recovery; returns their number. */
  async resendFailed(
    manager: EntityManager,
    recoveryId: string,
    clientId: string,
    { endpointId, from, to }: { endpointId: string; from: Date; to: Date },
    limit: number,
  ): Promise<number> {
    const params: unknown[] = [recoveryId, limit];
    const conditions = conditionsOf({ clientId, endpointId, state: 'failed', from, to }, params);
    const [, count]: [unknown[], number] = await manager.query(
      `UPDATE deliveries SET state = 'pending', retries = 0, next_attempt_at = now(), finished_at = NULL, recovery_id = $1
        WHERE id IN (SELECT d.id FROM deliveries d WHERE ${conditions.join(' AND ')} AND NOT d.erased
                      ORDER BY d.id LIMIT $2 FOR UPDATE)`,
      params,
    );
    return count;
  }

  async insertRecovery(
    manager: EntityManager,
    id: string,
    clientId: string,
    { endpointId, from, to }: { endpointId: string; from: Date; to: Date },
  ): Promise<void> {
    await manager.query(
      `INSERT INTO webhook_recoveries (id, client_id, endpoint_id, failed_from, failed_to, total)
       VALUES ($1, $2, $3, $4, $5, 0)`,
      [id, clientId, endpointId, from, to],
    );
  }

  async setRecoveryTotal(manager: EntityManager, id: string, total: number): Promise<void> {
    await manager.query('UPDATE webhook_recoveries SET total = $2 WHERE id = $1', [id, total]);
  }

  /** A recovery with its progress. */
  async findRecovery(id: string, clientId: string): Promise<Recovery | undefined> {
    const rows: Recovery[] = await this.dataSource.query(
      `SELECT r.id, r.endpoint_id AS "endpointId", r.failed_from AS "from", r.failed_to AS "to", r.total,
              r.created_at AS "createdAt", n.pending, n.delivered, n.failed, n.cancelled
         FROM webhook_recoveries r
         CROSS JOIN LATERAL (
           SELECT count(*) FILTER (WHERE state = 'pending')::int AS pending,
                  count(*) FILTER (WHERE state = 'delivered')::int AS delivered,
                  count(*) FILTER (WHERE state = 'failed')::int AS failed,
                  count(*) FILTER (WHERE state = 'cancelled')::int AS cancelled
             FROM deliveries WHERE recovery_id = r.id) n
        WHERE r.id = $1 AND r.client_id = $2`,
      [id, clientId],
    );
    return rows[0];
  }
}

/** The filter as SQL. Times are compared by id, because ids contain them. */
function conditionsOf(filter: DeliveryFilter, params: unknown[]): string[] {
  const { clientId, endpointId, state, eventType, from, to, recoveryId } = filter;
  const equal = (column: string, value: unknown) =>
    value === undefined ? [] : [`${column} = $${params.push(value)}`];
  return [
    ...equal('d.client_id', clientId),
    ...equal('d.endpoint_id', endpointId),
    ...equal('d.event_type', eventType),
    ...equal('d.recovery_id', recoveryId),
    ...(from === undefined ? [] : [`d.id >= $${params.push(firstIdAt('dlvr', from))}`]),
    ...(to === undefined ? [] : [`d.id < $${params.push(firstIdAt('dlvr', to))}`]),
    // A literal, so that the partial index of undelivered deliveries can be used.
    ...(state === undefined ? [] : [`d.state = '${state}'`]),
  ];
}
