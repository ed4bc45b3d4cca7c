import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { NewEvent } from './event.js';

/** What became of an event that was published. */
export interface PublishResult {
  id: string;
  isTypeKnown: boolean;
  isUserKnown: boolean;
  /** False where the idempotency key was used before. */
  isStored: boolean;
  deliveries: number;
}

/** What an idempotency key stands for. */
export interface UsedKey {
  eventId: string;
  bodyDigest: Buffer;
  deliveries: number;
}

@Injectable()
export class EventsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Stores events with their deliveries, however many of either, in one statement: all that was accepted is there, or
   * nothing is. An event goes to each enabled endpoint that subscribed to its type, of each enabled client that holds the
   * scope and to which the user has consented with it (contract §10). No key may stand twice among the events.
   */
  publish(events: NewEvent[]): Promise<PublishResult[]> {
    return this.dataSource.query(
      `WITH input AS (
         SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bytea[], $7::bytea[])
                    WITH ORDINALITY AS i (id, type, user_id, payload, publisher_id, key_digest, body_digest, place)
       ), checked AS (
         SELECT i.*, t.name IS NOT NULL AS is_type_known, u.id IS NOT NULL AS is_user_known, t.scope
           FROM input i
           LEFT JOIN event_types t ON t.name = i.type AND t.publisher = 'services'
           LEFT JOIN users u ON u.id = i.user_id
       ), claimed AS (
         INSERT INTO event_idempotency_keys AS k (client_id, key_digest, body_digest, event_id)
         SELECT publisher_id, key_digest, body_digest, id FROM checked
          WHERE key_digest IS NOT NULL AND is_type_known AND is_user_known
            AND EXISTS (SELECT 1 FROM clients WHERE id = publisher_id) ORDER BY publisher_id, key_digest
         ON CONFLICT (client_id, key_digest) DO UPDATE
           SET body_digest = excluded.body_digest, event_id = excluded.event_id, created_at = now()
         WHERE k.created_at <= now() - interval '24 hours'
         RETURNING event_id
       ), fresh AS (
         SELECT c.* FROM checked c LEFT JOIN claimed k ON k.event_id = c.id
          WHERE is_type_known AND is_user_known AND (key_digest IS NULL OR k.event_id IS NOT NULL)
       ), target AS (
         SELECT f.id AS event_id, f.type, e.id AS endpoint_id, e.client_id
           FROM fresh f
           JOIN consents n ON n.user_id = f.user_id AND n.revoked_at IS NULL AND f.scope = ANY (n.scopes)
           JOIN clients c ON c.id = n.client_id AND c.enabled AND f.scope = ANY (c.scopes)
           JOIN webhook_endpoints e ON e.client_id = c.id AND e.enabled AND e.deleted_at IS NULL
                                   AND f.type = ANY (e.event_types)
       ), counted AS (
         SELECT event_id, count(*)::int AS deliveries FROM target GROUP BY event_id
       ), event AS (
         INSERT INTO events (id, type, user_id, payload, deliveries)
         SELECT f.id, f.type, f.user_id, f.payload, coalesce(n.deliveries, 0)
           FROM fresh f LEFT JOIN counted n ON n.event_id = f.id ORDER BY f.place
         RETURNING id, deliveries
       ), delivery AS (
         INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id)
         SELECT new_delivery_id(), event_id, type, endpoint_id, client_id FROM target
       )
       SELECT c.id, c.is_type_known AS "isTypeKnown", c.is_user_known AS "isUserKnown", e.id IS NOT NULL AS "isStored",
              coalesce(e.deliveries, 0) AS deliveries
         FROM checked c LEFT JOIN event e ON e.id = c.id`,
      [
        events.map(({ id }) => id),
        events.map(({ type }) => type),
        events.map(({ userId }) => userId),
        events.map(({ payload }) => payload),
        events.map(({ publisherId }) => publisherId),
        events.map(({ idempotency }) => idempotency?.keyDigest ?? null),
        events.map(({ idempotency }) => idempotency?.bodyDigest ?? null),
      ],
    );
  }

  /** What the key stands for. */
  async findKey(publisherId: string, keyDigest: Buffer): Promise<UsedKey | undefined> {
    const rows: UsedKey[] = await this.dataSource.query(
      `SELECT k.event_id AS "eventId", k.body_digest AS "bodyDigest", e.deliveries
         FROM event_idempotency_keys k JOIN events e ON e.id = k.event_id
        WHERE k.client_id = $1 AND k.key_digest = $2`,
      [publisherId, keyDigest],
    );
    return rows[0];
  }

  /** An event of this service itself, for the one client concerned: stored with its deliveries in the caller's transaction. */
  async publishToClient(
    manager: EntityManager,
    event: { id: string; type: string; userId: string; payload: string },
    clientId: string,
  ): Promise<number> {
    const rows: { deliveries: number }[] = await manager.query(
      `WITH target AS (
         SELECT e.id FROM webhook_endpoints e JOIN clients c ON c.id = e.client_id AND c.enabled
          WHERE e.client_id = $5 AND e.enabled AND e.deleted_at IS NULL AND $2 = ANY (e.event_types)
       ), event AS (
         INSERT INTO events (id, type, user_id, payload, deliveries)
         SELECT $1, $2, $3, $4, (SELECT count(*) FROM target) WHERE EXISTS (SELECT 1 FROM target)
         RETURNING deliveries
       ), delivery AS (
         INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id)
         SELECT new_delivery_id(), $1, $2, id, $5 FROM target
       )
       SELECT deliveries FROM event`,
      [event.id, event.type, event.userId, event.payload, clientId],
    );
    return rows[0]?.deliveries ?? 0;
  }

  /** A test for one endpoint, whatever it subscribed to: the id of its one delivery. */
  async publishTest(
    event: { id: string; type: string; payload: string },
    endpointId: string,
    clientId: string,
  ): Promise<string> {
    const [row]: { id: string }[] = await this.dataSource.query(
      `WITH event AS (
         INSERT INTO events (id, type, payload, deliveries, test) VALUES ($1, $2, $3, 1, true)
       )
       INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id)
       VALUES (new_delivery_id(), $1, $2, $4, $5) RETURNING id`,
      [event.id, event.type, event.payload, endpointId, clientId],
    );
    return row!.id;
  }
}
