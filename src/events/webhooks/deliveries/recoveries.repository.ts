import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, type SelectQueryBuilder } from 'typeorm';
import { consentIncludedSince, consentIncludes } from '#access/consents/consent.sql.js';
import { countUpTo } from '#platform/database/queries/read-page.js';
import { firstIdAt } from '#platform/secrets/ids.js';
import { EndpointPauseEntity } from '../endpoints/endpoint-pause.entity.js';
import { RESTARTED } from './deliveries.repository.js';
import { DeliveryEntity } from './delivery.entity.js';
import { passesFilter } from '../filters/condition-path.js';
import { lineOf, placeOf } from './delivery-lines.sql.js';
import { filtered, orderOf, type DeliveryFilter } from './delivery-filter.js';
import { DELIVERY_ID_TIME, NEW_DELIVERY_ID } from './new-delivery-ids.sql.js';
import { RecoveryEntity, type Recovery } from './recovery.entity.js';

/** The values of a new recovery. */
export type NewRecovery = Pick<Recovery, 'id' | 'kind' | 'endpointId' | 'from' | 'to'> & { clientId: string };

/** Which deliveries to resend: those that match, or those of them that were chosen. */
export interface Resent extends DeliveryFilter {
  clientId: string;
  ids?: string[];
  /** Includes those to a disabled endpoint. Otherwise they are left out, because they would be cancelled. */
  isForDisabled?: boolean;
}

/** The endpoint that missed events, and from when until when at most. */
export interface Missed {
  recoveryId: string;
  endpointId: string;
  clientId: string;
  from: Date;
  to: Date;
}

/** Some of them: up to `limit`, after those that this recovery has sent. */
export interface Part {
  sent: number;
  limit: number;
}

/** Of the tests to a disabled endpoint the newest, as many as one recovery sends. */
const TESTS_MAX = 50_000;

// An event that was being published when the endpoint was enabled may have found it disabled. Its time is that of the start of its
// transaction, so it may also be from before it was disabled.
const SINCE = "greatest(p.disabled_at - interval '1 minute', e.created_at)";
const UNTIL = "p.enabled_at + interval '1 minute'";

@Injectable()
export class RecoveriesRepository {
  constructor(
    @InjectRepository(DeliveryEntity) private readonly deliveries: Repository<DeliveryEntity>,
    @InjectRepository(RecoveryEntity) private readonly recoveries: Repository<RecoveryEntity>,
    @InjectRepository(EndpointPauseEntity) private readonly pauses: Repository<EndpointPauseEntity>,
  ) {}

  /** How many deliveries a recovery would resend, counted up to a limit. */
  count(resent: Resent, limit: number): Promise<number> {
    const query = resendable(this.deliveries.createQueryBuilder('delivery'), resent);
    return countUpTo(limit, query);
  }

  /** Resends up to `limit` deliveries for a recovery, from the start of their schedule; returns their number. */
  async resend(recoveryId: string, resent: Resent, limit: number): Promise<number> {
    const deliveries = this.deliveries;
    const chosen = resendable(deliveries.createQueryBuilder('delivery').select('delivery.id'), resent)
      // What the same recovery has resent before, in any state, matches again.
      .andWhere('delivery.recoveryId IS DISTINCT FROM :newRecoveryId', { newRecoveryId: recoveryId })
      .orderBy(orderOf(resent))
      .limit(limit)
      .setLock('pessimistic_write');
    const { affected } = await deliveries
      .createQueryBuilder()
      .update()
      .set({ ...RESTARTED, recoveryId })
      .where(`id IN (${chosen.getQuery()})`)
      .setParameters(chosen.getParameters())
      .execute();
    return affected!;
  }

  async insert(recovery: NewRecovery): Promise<void> {
    await this.recoveries.insert({ ...recovery, total: 0 });
  }

  async setTotal(id: string, total: number): Promise<void> {
    await this.recoveries.update({ id }, { total });
  }

  /** A recovery with its progress. */
  async find(id: string, clientId: string): Promise<Recovery | undefined> {
    // The query builder does not support lateral joins.
    const rows: Recovery[] = await this.recoveries.query(
      `SELECT r.id, r.kind, r.endpoint_id AS "endpointId", r.failed_from AS "from", r.failed_to AS "to", r.total,
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

  /** The pauses of an endpoint since a time, whose missed events were not sent: from the first start to the last end. */
  async openPauses(endpointId: string): Promise<{ from: Date; to: Date } | undefined> {
    const row = await this.pauses
      .createQueryBuilder('pause')
      .select('min(pause.disabledAt)', 'from')
      .addSelect('max(pause.enabledAt)', 'to')
      .where('pause.endpointId = :endpointId AND pause.sentAt IS NULL', { endpointId })
      .getRawOne<{ from: Date | null; to: Date }>();
    return row?.from ? { from: row.from, to: row.to } : undefined;
  }

  /** Closes them, each once; undefined if not found. */
  async closePauses(endpointId: string): Promise<{ from: Date; to: Date } | undefined> {
    const [rows]: [{ from: Date; to: Date }[], number] = await this.deliveries.manager.query(
      `UPDATE webhook_pauses SET sent_at = now() WHERE endpoint_id = $1 AND sent_at IS NULL
       RETURNING disabled_at AS "from", enabled_at AS "to"`,
      [endpointId],
    );
    if (rows.length === 0) return undefined;
    const times = (of: 'from' | 'to') => rows.map((row) => row[of].getTime());
    return { from: new Date(Math.min(...times('from'))), to: new Date(Math.max(...times('to'))) };
  }

  /** Reopens the pauses that this transaction has closed, because not everything was sent. */
  async reopenPauses(endpointId: string): Promise<void> {
    await this.deliveries.manager.query(
      'UPDATE webhook_pauses SET sent_at = NULL WHERE endpoint_id = $1 AND sent_at = now()',
      [endpointId],
    );
  }

  /**
   * Creates deliveries of up to `limit` events without one to the endpoint, from the pauses that this transaction has closed: of
   * the types it subscribes to, still stored, and covered by a consent then and now. Returns their number.
   */
  sendMissed(missed: Missed, part: Part): Promise<number> {
    return this.addMissed(
      missed,
      part,
      `JOIN consents n ON n.client_id = c.id
           JOIN users u ON u.id = n.user_id AND u.enabled
           JOIN events v ON v.user_id = n.user_id AND v.type = ANY (e.event_types) AND v.payload IS NOT NULL
           JOIN event_types t ON t.name = v.type AND t.scope = ANY (c.scopes) AND ${consentIncludes('t.scope')}
                             AND ${consentIncludedSince('t.scope', 'v.created_at')}`,
    );
  }

  /** The same for events that this service published for the client alone, found by their deliveries to its other endpoints. */
  sendMissedOfClient(missed: Missed, part: Part): Promise<number> {
    return this.addMissed(
      missed,
      part,
      `JOIN events v ON v.id IN (SELECT d.event_id FROM deliveries d WHERE d.client_id = $2 AND d.id >= $8)
                        AND v.type = ANY (e.event_types) AND NOT v.test AND v.payload IS NOT NULL
           JOIN event_types t ON t.name = v.type AND t.scope IS NULL`,
      firstIdAt('dlvr', new Date(missed.from.getTime() - 60_000)),
    );
  }

  /** In SQL, because the query builder has no such insert. */
  private async addMissed(
    { recoveryId, endpointId, clientId, from, to }: Missed,
    { sent, limit }: Part,
    events: string,
    ...more: string[]
  ): Promise<number> {
    const [row]: { count: number }[] = await this.deliveries.manager.query(
      `WITH missed AS MATERIALIZED (
         SELECT v.id, v.type, v.created_at, v.realm, v.user_id, v.xid
           FROM webhook_endpoints e
           JOIN clients c ON c.id = e.client_id AND c.enabled
           ${events}
          WHERE e.id = $1 AND ${IN_A_PAUSE}
          ORDER BY v.created_at, v.id LIMIT $4 FOR KEY SHARE OF v
       ), ${ADDED}`,
      [endpointId, clientId, recoveryId, limit, sent, from, to, ...more],
    );
    return row!.count;
  }
}

/** The pauses decide; their first and last time bound what is read, whatever the number of users and their events. */
const IN_A_PAUSE = `
  v.realm = e.realm AND ${passesFilter('v.payload')}
  AND v.created_at > $6::timestamptz - interval '2 minutes' AND v.created_at < $7::timestamptz + interval '2 minutes'
  AND EXISTS (SELECT 1 FROM webhook_pauses p
           WHERE p.endpoint_id = e.id AND p.sent_at = now()
             AND v.created_at >= ${SINCE} AND v.created_at < ${UNTIL})
  AND NOT EXISTS (SELECT 1 FROM deliveries o WHERE o.event_id = v.id AND o.endpoint_id = e.id)`;

/** Due in the order of their events. */
const ADDED = `${DELIVERY_ID_TIME}, added AS (
  INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, recovery_id, realm, line, place, next_attempt_at, due_at)
  SELECT ${NEW_DELIVERY_ID}, m.id, m.type, $1, $2, $3, m.realm, ${lineOf('m.user_id')}, ${placeOf('m.xid')}, m.at, m.at
    FROM (SELECT *, now() - interval '1 second' + ($5::int + row_number() OVER (ORDER BY created_at, id)) * interval '1 microsecond' AS at
            FROM missed) m
  RETURNING 1
)
SELECT count(*)::int AS count FROM added`;

/** Those that can be resent: not while an attempt runs, not about erased users, and only to endpoints that still exist; tests also to disabled ones. */
function resendable(
  query: SelectQueryBuilder<DeliveryEntity>,
  { ids, isForDisabled = false, ...filter }: Resent,
): SelectQueryBuilder<DeliveryEntity> {
  if (ids !== undefined) query.andWhere('delivery.id = ANY (:ids)', { ids });
  return filtered(query, filter)
    .andWhere('delivery.leaseId IS NULL AND NOT delivery.erased')
    .andWhere(
      // Arrays, which are read once and not for each of a million deliveries.
      `(delivery.endpoint_id = ANY (ARRAY(${ENDPOINTS} AND (:isForDisabled OR e.enabled)))
        OR delivery.endpoint_id = ANY (ARRAY(${ENDPOINTS})) AND delivery.event_id = ANY (ARRAY(
          SELECT v.id FROM events v WHERE v.client_id = :ofClient AND v.test ORDER BY v.id DESC LIMIT ${TESTS_MAX})))`,
      { isForDisabled, ofClient: filter.clientId },
    );
}

const ENDPOINTS =
  'SELECT e.id FROM webhook_endpoints e WHERE e.client_id = :ofClient AND e.deleted_at IS NULL';
