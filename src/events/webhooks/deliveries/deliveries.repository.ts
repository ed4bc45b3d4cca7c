import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository, type SelectQueryBuilder } from 'typeorm';
import { userShares } from '#access/consents/consent.sql.js';
import { readPage, type Page, type PageRequest } from '#platform/database/queries/read-page.js';
import { CONSENT_REVOKED } from '../events/event.js';
import { DeliveryAttemptEntity } from './delivery-attempt.entity.js';
import { DeliveryEntity } from './delivery.entity.js';
import type { AttemptedBatch, BatchedEvent, Delivery, DeliveryDetail } from './delivery.js';
import { lineOf, placeOf } from './delivery-lines.sql.js';
import { filtered, orderOf, type DeliveryFilter } from './delivery-filter.js';

/** A delivery with what pages and the API show: its endpoint, its event and its last attempt. */
type ReadDelivery = DeliveryEntity &
  Required<Pick<DeliveryEntity, 'endpoint' | 'event'>> & { lastAttempt: DeliveryAttemptEntity | null };

/**
 * Whether the client may see the payload (contract §11.4): it was delivered, or the client may read it now, or the event needs no
 * consent. Tests are about no user. In SQL: the statement that reads the payload checks clients and consents.
 */
const MAY_BE_SHOWN = `(
  event.test
  OR EXISTS (SELECT 1 FROM event_types t WHERE t.name = event.type AND t.scope IS NULL)
  OR EXISTS (SELECT 1 FROM delivery_attempts s WHERE s.delivery_id = delivery.id AND s.status BETWEEN 200 AND 299)
  OR EXISTS (SELECT 1 FROM event_types t
               JOIN clients c ON c.id = delivery.client_id AND t.scope = ANY (c.scopes)
              WHERE t.name = event.type AND ${userShares('c.id', 'event.user_id', 't.scope')}))`;

const OF_ITS_EVENT = (what: string) => () =>
  `(SELECT ${what} FROM events v WHERE v.id = event_id AND v.user_id IS NOT NULL)`;

/** The values that restart a delivery's schedule, at its place in the line if its endpoint is ordered. */
export const RESTARTED = {
  state: 'pending',
  cancelReason: null,
  retries: 0,
  nextAttemptAt: () => 'now()',
  dueAt: null,
  finishedAt: null,
  line: OF_ITS_EVENT(lineOf('v.user_id')),
  place: OF_ITS_EVENT(placeOf('v.xid')),
  behind: false,
} as const;

@Injectable()
export class DeliveriesRepository {
  constructor(
    @InjectRepository(DeliveryEntity) private readonly deliveries: Repository<DeliveryEntity>,
    @InjectRepository(DeliveryAttemptEntity) private readonly attempts: Repository<DeliveryAttemptEntity>,
  ) {}

  /** One page, newest first. */
  async list(filter: DeliveryFilter, page: PageRequest): Promise<Page<Delivery>> {
    const found = await readPage(page, orderOf(filter), 'desc', filtered(this.read(), filter));
    return { ...found, items: found.items.map((each) => deliveryOf(each as ReadDelivery)) };
  }

  /** With a `clientId`, only that client's delivery, and its payload only if the client may see it. */
  async find(id: string, clientId: string | undefined): Promise<DeliveryDetail | undefined> {
    const query = filtered(this.read(), { clientId }).andWhere('delivery.id = :id', { id });
    return (await this.details(query, clientId))[0];
  }

  /** A client's newest deliveries of events about a user, the newest first, with everything about them. */
  newestAbout(userId: string, clientId: string, since: Date, limit: number): Promise<DeliveryDetail[]> {
    const query = filtered(this.read(), { clientId, from: since })
      .andWhere('event.userId = :userId', { userId })
      .orderBy('delivery.id', 'DESC')
      .limit(limit);
    return this.details(query, clientId);
  }

  private async details(
    query: SelectQueryBuilder<DeliveryEntity>,
    clientId: string | undefined,
  ): Promise<DeliveryDetail[]> {
    const { entities, raw } = await query
      .addSelect('event.userId')
      .addSelect('event.payload IS NULL', 'isErased')
      .addSelect(
        clientId === undefined ? 'event.payload' : `CASE WHEN ${MAY_BE_SHOWN} THEN event.payload END`,
        'payload',
      )
      .getRawAndEntities<Pick<DeliveryDetail, 'payload'> & { isErased: boolean }>();
    if (entities.length === 0) return [];
    // Read after the deliveries, and only up to their number of attempts: an attempt that ends in between would contradict the
    // state.
    const attempts = await this.attempts.find({
      where: { deliveryId: In(entities.map(({ id }) => id)) },
      order: { number: 'ASC' },
    });
    const batches = await this.batchesOf(attempts);
    return entities.map((each, n) => {
      const delivery = each as ReadDelivery;
      const { payload, isErased } = raw[n]!;
      return {
        ...deliveryOf(delivery),
        userId: delivery.event.userId,
        payload,
        payloadHidden: isErased ? 'erased' : payload === null ? 'not_consented' : null,
        attemptList: attempts
          .filter(({ deliveryId, number }) => deliveryId === delivery.id && number <= delivery.attempts)
          .map((attempt) => ({ ...attempt, batch: batches.get(requestOf(attempt)) ?? null })),
      };
    });
  }

  /** What was sent together in these attempts, by `requestOf`. */
  private async batchesOf(attempts: DeliveryAttemptEntity[]): Promise<Map<string, AttemptedBatch>> {
    const ids = [...new Set(attempts.flatMap(({ batchId }) => batchId ?? []))];
    if (ids.length === 0) return new Map();
    // The order of the feed is that of a number which no entity has.
    const found: (BatchedEvent & BatchedAttempt)[] = await this.attempts.query(
      `SELECT a.batch_id AS "batchId", a.attempted_at AS "attemptedAt", a.delivery_id AS "deliveryId", d.event_type AS "eventType",
              v.version AS "eventVersion", a.sequence_gap AS "sequenceGap", d.state
         FROM delivery_attempts a
         JOIN deliveries d ON d.id = a.delivery_id
         JOIN events v ON v.id = d.event_id
        WHERE a.batch_id = ANY ($1) ORDER BY v.xid, v.id`,
      [ids],
    );
    const batches = new Map<string, AttemptedBatch>();
    for (const { batchId, attemptedAt, ...event } of found) {
      const request = requestOf({ batchId, attemptedAt });
      if (!batches.has(request)) batches.set(request, { id: batchId!, events: [] });
      batches.get(request)!.events.push(event);
    }
    return batches;
  }

  /** Whether no attempt is pending; also true for an unknown id. */
  async isFinished(id: string): Promise<boolean> {
    return !(await this.deliveries.existsBy({ id, state: 'pending' }));
  }

  /** Whether anything was delivered to the client, as far as deliveries are kept. */
  hasDelivered(clientId: string): Promise<boolean> {
    return this.deliveries.existsBy({ clientId, state: 'delivered' });
  }

  /**
   * Restarts a delivery's schedule, due immediately. False while an attempt is running, for a deleted endpoint, and if its user
   * was erased.
   */
  async resend(id: string): Promise<boolean> {
    const { affected } = await this.deliveries
      .createQueryBuilder()
      .update()
      .set(RESTARTED)
      .where('id = :id AND leaseId IS NULL AND NOT erased', { id })
      .andWhere(
        'EXISTS (SELECT 1 FROM webhook_endpoints e WHERE e.id = deliveries.endpoint_id AND e.deleted_at IS NULL)',
      )
      .execute();
    return affected === 1;
  }

  /** Marks the deliveries about a user as erased, and cancels those without a running attempt. */
  async eraseUser(userId: string): Promise<void> {
    // The rows are locked in the order of their ids by the statement that changes them.
    await this.deliveries.manager.query(
      `UPDATE deliveries d
          SET erased = true,
              state = CASE WHEN w.ends THEN 'cancelled' ELSE d.state END,
              cancel_reason = CASE WHEN w.ends THEN 'consent_withdrawn' ELSE d.cancel_reason END,
              next_attempt_at = CASE WHEN w.ends THEN NULL ELSE d.next_attempt_at END,
              finished_at = CASE WHEN w.ends THEN now() ELSE d.finished_at END,
              lease_id = CASE WHEN w.ends THEN NULL ELSE d.lease_id END,
              -- A running attempt is still ahead of what tells that consents were revoked.
              line = CASE WHEN d.state = 'pending' AND NOT w.ends THEN d.line END,
              behind = false
         FROM (SELECT p.id, p.state = 'pending' AND (p.lease_id IS NULL OR p.next_attempt_at <= now()) AS ends
                 FROM deliveries p JOIN events v ON v.id = p.event_id
                WHERE v.user_id = $1 AND v.type <> $2
                ORDER BY p.id FOR NO KEY UPDATE OF p) AS w
        WHERE d.id = w.id`,
      [userId, CONSENT_REVOKED],
    );
    // What stays may be next in its line.
    await this.deliveries.manager.query(
      `UPDATE deliveries d SET behind = false, next_attempt_at = now(), due_at = now()
         FROM events v WHERE v.user_id = $1 AND d.event_id = v.id AND d.behind`,
      [userId],
    );
  }

  /** Removes the responses to all deliveries about a user, including those of revoked consents. */
  async eraseResponses(userId: string): Promise<void> {
    // With those of their batches: an answer may name each person. Locked in one order, as two people of a batch may be erased at a time.
    await this.deliveries.manager.query(
      `WITH own AS (
         SELECT s.delivery_id, s.number, s.batch_id
           FROM events v JOIN deliveries d ON d.event_id = v.id JOIN delivery_attempts s ON s.delivery_id = d.id
          WHERE v.user_id = $1
       )
       UPDATE delivery_attempts a SET response_start = NULL, response_headers = NULL
         FROM (SELECT s.delivery_id, s.number FROM delivery_attempts s
                WHERE (s.delivery_id, s.number) IN (
                  SELECT delivery_id, number FROM own
                  UNION SELECT o.delivery_id, o.number FROM own JOIN delivery_attempts o ON o.batch_id = own.batch_id)
                ORDER BY 1, 2 FOR NO KEY UPDATE) w
        WHERE a.delivery_id = w.delivery_id AND a.number = w.number`,
      [userId],
    );
  }

  private read(): SelectQueryBuilder<DeliveryEntity> {
    return this.deliveries
      .createQueryBuilder('delivery')
      .innerJoin('delivery.endpoint', 'endpoint')
      .innerJoin('delivery.event', 'event')
      .leftJoinAndMapOne(
        'delivery.lastAttempt',
        DeliveryAttemptEntity,
        'attempt',
        'attempt.deliveryId = delivery.id AND attempt.number = delivery.attempts',
      )
      .select(['delivery', 'endpoint.id', 'endpoint.url', 'endpoint.enabled', 'endpoint.deletedAt'])
      .addSelect(['event.id', 'event.isTest', 'event.version'])
      .addSelect(['attempt.deliveryId', 'attempt.number'])
      .addSelect(['attempt.status', 'attempt.failure', 'attempt.url', 'attempt.attemptedAt']);
  }
}

type BatchedAttempt = Pick<DeliveryAttemptEntity, 'batchId' | 'attemptedAt'>;

/** Names a request with several deliveries: each of them has such an attempt. */
const requestOf = ({ batchId, attemptedAt }: BatchedAttempt): string => `${batchId} ${attemptedAt.getTime()}`;

const deliveryOf = ({ endpoint, event, lastAttempt, ...delivery }: ReadDelivery): Delivery => ({
  id: delivery.id,
  eventId: delivery.eventId,
  eventType: delivery.eventType,
  eventVersion: event.version,
  endpointId: delivery.endpointId,
  endpointUrl: endpoint.url,
  endpointState: endpoint.deletedAt !== null ? 'deleted' : endpoint.enabled ? 'enabled' : 'disabled',
  clientId: delivery.clientId,
  state: delivery.state,
  cancelReason: delivery.cancelReason,
  attempts: delivery.attempts,
  nextAttemptAt: delivery.behind ? null : delivery.nextAttemptAt,
  isBehind: delivery.behind,
  createdAt: delivery.createdAt,
  finishedAt: delivery.finishedAt,
  isTest: event.isTest,
  lastStatus: lastAttempt?.status ?? null,
  lastFailure: lastAttempt?.failure ?? null,
  lastUrl: lastAttempt?.url ?? null,
  lastAttemptAt: lastAttempt?.attemptedAt ?? null,
});
