import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Not, Repository, Column, Entity, JoinColumn, ManyToOne, PrimaryColumn } from 'typeorm';
import { consentIncludes } from '#access/consents/consent.sql.js';
import { InputRows } from '#platform/database/queries/input-rows.js';
import { HAS_ARRIVED } from '#events/disclosures/deliveries-of-event.sql.js';
import { firstIdAt } from '#platform/secrets/ids.js';
import { requireTransaction } from '#platform/database/queries/transaction-around.js';
import { WorkerStatements } from '#platform/database/queries/worker-statements.js';
import { DELIVERY_ID_TIME, NEW_DELIVERY_ID } from '../deliveries/new-delivery-ids.sql.js';
import { passesFilter } from '../filters/condition-path.js';
import { EventEntity } from './event.entity.js';
import { CONSENT_REVOKED, type NewEvent } from './event.js';

/** The number of the last event about one thing of a user (contract §21). */
@Entity('event_sequences')
export class EventSequenceEntity {
  @PrimaryColumn('text') userId!: string;
  /** The part of the event type before the dot. */
  @PrimaryColumn('text') family!: string;
  @PrimaryColumn('text') resourceId!: string;
  @Column('bigint') last!: string;
  /** The day of the last event. */
  @Column('date') seenOn!: string;
}

/** An `Idempotency-Key` of a publisher, and the event and body that it was used for. */
@Entity('event_idempotency_keys')
export class EventIdempotencyKeyEntity {
  @PrimaryColumn('text') clientId!: string;
  @PrimaryColumn('bytea') keyDigest!: Buffer;
  @Column('bytea') bodyDigest!: Buffer;
  @Column('text') eventId!: string;

  @ManyToOne(() => EventEntity, { createForeignKeyConstraints: false })
  @JoinColumn({ name: 'event_id' })
  event?: EventEntity;

  @Column({ type: 'timestamptz', insert: false }) createdAt!: Date;
}

/** The result of publishing an event. */
export interface PublishResult {
  id: string;
  isTypeKnown: boolean;
  isUserKnown: boolean;
  /** False if the type has changed since the event was validated: nothing was done. */
  isCurrent: boolean;
  /** False if the idempotency key was used before. */
  isStored: boolean;
  deliveries: number;
}

/** The event and body that an idempotency key was used for. */
export interface UsedKey {
  eventId: string;
  bodyDigest: Buffer;
  deliveries: number;
}

/** An event that this service publishes itself, for one client. */
export interface ClientEvent {
  id: string;
  type: string;
  userId: string;
  clientId: string;
  payload: string;
  requestId?: string;
}

/** An event about a user, as the user sees it. */
export interface EventAbout {
  id: string;
  type: string;
  createdAt: Date;
  payload: string | null;
  /** Who got it. */
  clientIds: string[];
}

/** A requested test. */
export interface TestEvent {
  id: string;
  type: string;
  version: number;
  payload: string;
  requestId?: string;
}

/** What an event is numbered by. */
type NumberedEvent = Pick<NewEvent, 'type' | 'userId' | 'resourceId'>;

const NEW = new InputRows<NewEvent & Partial<NonNullable<NewEvent['idempotency']>>>({
  text: ['id', 'type', 'userId', 'payload', 'publisherId', 'resourceId', 'realm', 'requestId'],
  bytea: ['keyDigest', 'bodyDigest'],
  int: ['version', 'revision'],
});
const NUMBERED = new InputRows<NumberedEvent>({ text: ['type', 'userId', 'resourceId'] });
const OF_CLIENTS = new InputRows<ClientEvent>({
  text: ['id', 'type', 'userId', 'payload', 'clientId', 'requestId'],
});

// The class of the advisory locks that number events about one thing.
const NUMBERING = 1_702_260_340;
// Takes them for the rows of `input`, always in the same order.
const TAKE_TURNS = `
         SELECT pg_advisory_xact_lock(${NUMBERING}::int, key)
           FROM (SELECT DISTINCT hashtext(concat_ws(' ', user_id, split_part(type, '.', 1), resource_id)) AS key
                   FROM input WHERE resource_id IS NOT NULL ORDER BY key) each`;

// The endpoints of a client (`c`) that get an event.
const SUBSCRIBED = (event: string) => `
           JOIN webhook_endpoints e ON e.client_id = c.id AND e.enabled AND e.deleted_at IS NULL
                                   AND ${event}.type = ANY (e.event_types) AND ${passesFilter(`${event}.payload`)}`;
// How many deliveries each event gets, and storing one for each `target`.
const COUNT_DELIVERIES =
  'counted AS (SELECT event_id, count(*)::int AS deliveries FROM target GROUP BY event_id)';
const INSERT_DELIVERIES = `${DELIVERY_ID_TIME}, delivery AS (
         INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, realm)
         SELECT ${NEW_DELIVERY_ID}, event_id, type, endpoint_id, client_id, realm FROM target RETURNING 1
       )`;

/**
 * Stores events with their deliveries. An event goes to each enabled endpoint that subscribed to its type and whose filter it passes, of each
 * enabled client that has the scope and the user's consent with that scope (contract §10). Events about one thing are numbered in the order of
 * their ids (contract §21); their numbers are locked, in one order, until the commit.
 */
const PUBLISH = `WITH input AS (
     SELECT * FROM unnest(${NEW.arrays}) WITH ORDINALITY AS i (${NEW.columns}, place)
   ), turn AS MATERIALIZED (
     -- The writer of the next event about a thing waits before its transaction gets an id: so numbers grow in the feed's order.
     ${TAKE_TURNS}
   ), known AS MATERIALIZED (
     -- Before any other row: an erasure locks the user first, too.
     SELECT u.id, u.realm, u.enabled FROM users u
      WHERE u.id IN (SELECT user_id FROM input) AND (SELECT count(*) FROM turn) >= 0 ORDER BY u.id FOR KEY SHARE
   ), checked AS (
     SELECT i.*, t.name IS NOT NULL AS is_type_known, u.id IS NOT NULL AS is_user_known,
            t.revision IS NOT DISTINCT FROM i.revision AS is_current, t.scope
       FROM input i
       LEFT JOIN event_types t ON t.name = i.type AND t.publisher = 'services'
       LEFT JOIN known u ON u.id = i.user_id AND u.realm = i.realm
   ), claimed AS (
     INSERT INTO event_idempotency_keys AS k (client_id, key_digest, body_digest, event_id)
     SELECT publisher_id, key_digest, body_digest, id FROM checked
      WHERE key_digest IS NOT NULL AND is_type_known AND is_user_known AND is_current
        AND EXISTS (SELECT 1 FROM clients WHERE id = publisher_id) ORDER BY publisher_id, key_digest
     ON CONFLICT (client_id, key_digest) DO UPDATE
       SET body_digest = excluded.body_digest, event_id = excluded.event_id, created_at = now()
     WHERE k.created_at <= now() - interval '24 hours'
     RETURNING event_id
   ), fresh AS (
     SELECT c.*, split_part(c.type, '.', 1) AS family FROM checked c LEFT JOIN claimed k ON k.event_id = c.id
      WHERE is_type_known AND is_user_known AND is_current AND (key_digest IS NULL OR k.event_id IS NOT NULL)
   ), placed AS (
     -- How many events about the same thing come after it.
     SELECT *, count(*) OVER (PARTITION BY user_id, family, resource_id)
                 - row_number() OVER (PARTITION BY user_id, family, resource_id ORDER BY id) AS later
       FROM fresh
   ), target AS (
     -- The endpoints that each event goes to: every row becomes a delivery.
     SELECT f.id AS event_id, f.type, f.realm, e.id AS endpoint_id, e.client_id
       FROM fresh f
       JOIN known u ON u.id = f.user_id AND u.enabled
       JOIN consents n ON n.user_id = f.user_id AND ${consentIncludes('f.scope')}
       JOIN clients c ON c.id = n.client_id AND c.enabled AND f.scope = ANY (c.scopes)
       ${SUBSCRIBED('f')}
   ), ${COUNT_DELIVERIES}, counter AS (
     INSERT INTO event_sequences AS s (user_id, family, resource_id, last)
     SELECT user_id, family, resource_id, count(*) FROM fresh
      WHERE resource_id IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
     ON CONFLICT (user_id, family, resource_id) DO UPDATE
       SET last = s.last + excluded.last, seen_on = excluded.seen_on
     RETURNING user_id, family, resource_id, last
   ), event AS (
     INSERT INTO events (id, type, user_id, payload, deliveries, version, realm, request_id)
     SELECT f.id, f.type, f.user_id,
            -- The number in its sequence is appended to the JSON text as its last member.
            CASE WHEN s.last IS NULL THEN f.payload
                 ELSE left(f.payload, -1) || ',"sequence":' || (s.last - f.later) || '}' END,
            coalesce(n.deliveries, 0), f.version, f.realm, f.request_id
       FROM placed f
       LEFT JOIN counted n ON n.event_id = f.id
       LEFT JOIN counter s ON s.resource_id = f.resource_id AND s.user_id = f.user_id AND s.family = f.family
      ORDER BY f.place
     RETURNING id, deliveries
   ), ${INSERT_DELIVERIES}
   SELECT c.id, c.is_type_known AS "isTypeKnown", c.is_user_known AS "isUserKnown", c.is_current AS "isCurrent",
          e.id IS NOT NULL AS "isStored", coalesce(e.deliveries, 0) AS deliveries
     FROM checked c LEFT JOIN event e ON e.id = c.id`;
const parametersOf = (events: readonly NewEvent[]): unknown[][] =>
  NEW.parameters(events.map((event) => ({ ...event, ...event.idempotency })));

@Injectable()
export class EventsRepository {
  constructor(
    @InjectRepository(EventEntity) private readonly events: Repository<EventEntity>,
    @InjectRepository(EventIdempotencyKeyEntity) private readonly keys: Repository<EventIdempotencyKeyEntity>,
    private readonly statements: WorkerStatements,
  ) {}

  /**
   * Stores any number of events with their deliveries in one statement, all or nothing. Idempotency keys must be distinct within the
   * events. For one caller at a time in a process, because these connections are few.
   */
  publish(events: NewEvent[]): Promise<PublishResult[]> {
    return this.statements.run('publishing', PUBLISH, parametersOf(events));
  }

  /** Like `publish`, in the caller's transaction. In SQL, because the query builder cannot write several tables in one statement. */
  publishWithin(events: NewEvent[]): Promise<PublishResult[]> {
    requireTransaction('Events that are stored with others');
    return this.events.manager.query(PUBLISH, parametersOf(events));
  }

  /**
   * Waits until no other transaction numbers events about the same things, as `publish` does. A transaction that writes before it
   * publishes calls this first, because it must not get its transaction id before it waits.
   */
  async takeTurns(events: NumberedEvent[]): Promise<void> {
    requireTransaction('A lock that is to last');
    await this.events.manager.query(
      `WITH input AS (SELECT * FROM unnest(${NUMBERED.arrays}) AS i (${NUMBERED.columns})) ${TAKE_TURNS}`,
      NUMBERED.parameters(events),
    );
  }

  /** What an idempotency key was used for. */
  async findKey(publisherId: string, keyDigest: Buffer): Promise<UsedKey | undefined> {
    const used = await this.keys
      .createQueryBuilder('key')
      .innerJoin('key.event', 'event')
      .addSelect(['event.id', 'event.deliveries'])
      .where('key.clientId = :publisherId AND key.keyDigest = :keyDigest', { publisherId, keyDigest })
      .getOne();
    return used
      ? { eventId: used.eventId, bodyDigest: used.bodyDigest, deliveries: used.event!.deliveries }
      : undefined;
  }

  /**
   * Stores events of this service, each for one client, with their deliveries in the caller's transaction. Returns the number of
   * deliveries.
   */
  async publishToClients(events: ClientEvent[]): Promise<number> {
    // In SQL, like `publish`: it checks clients and writes to two tables.
    const [row]: { deliveries: number }[] = await this.events.manager.query(
      `WITH input AS (
         SELECT * FROM unnest(${OF_CLIENTS.arrays}) AS i (${OF_CLIENTS.columns})
       ), target AS (
         SELECT i.id AS event_id, i.type, c.realm, e.id AS endpoint_id, e.client_id
           FROM input i
           JOIN clients c ON c.id = i.client_id AND c.enabled
           ${SUBSCRIBED('i')}
       ), ${COUNT_DELIVERIES}, event AS (
         INSERT INTO events (id, type, user_id, payload, deliveries, client_id, realm, request_id)
         SELECT i.id, i.type, i.user_id, i.payload, coalesce(n.deliveries, 0), i.client_id, coalesce(u.realm, 'live'),
                i.request_id
           FROM input i
           LEFT JOIN counted n ON n.event_id = i.id
           LEFT JOIN users u ON u.id = i.user_id
       ), ${INSERT_DELIVERIES}
       SELECT count(*)::int AS deliveries FROM delivery`,
      OF_CLIENTS.parameters(events),
    );
    return row!.deliveries;
  }

  /**
   * Stores a test for one endpoint, regardless of what it subscribes to. Returns the id of its only delivery; undefined if the endpoint
   * went with its client.
   */
  async publishTest(event: TestEvent, endpointId: string, clientId: string): Promise<string | undefined> {
    // In SQL, like `publish`: it writes to two tables.
    const [row]: { id: string }[] = await this.events.query(
      `WITH holder AS (
         SELECT realm FROM webhook_endpoints WHERE id = $4 FOR KEY SHARE
       ), event AS (
         INSERT INTO events (id, type, payload, deliveries, test, version, realm, request_id, client_id)
         SELECT $1, $2, $3, 1, true, $6, realm, $7, $5 FROM holder
       )
       INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, realm)
       SELECT new_delivery_id(), $1, $2, $4, $5, realm FROM holder RETURNING id`,
      [event.id, event.type, event.payload, endpointId, clientId, event.version, event.requestId],
    );
    return row?.id;
  }

  /**
   * The events about a user with the clients that they were delivered to, newest first. In SQL, because it collects rows of
   * another table for each.
   */
  listAbout(userId: string, limit: number): Promise<EventAbout[]> {
    return this.events.query(
      `SELECT e.id, e.type, e.created_at AS "createdAt", e.payload,
              ARRAY(SELECT DISTINCT d.client_id FROM deliveries d WHERE d.event_id = e.id AND ${HAS_ARRIVED}) AS "clientIds"
         FROM events e WHERE e.user_id = $1 ORDER BY e.id DESC LIMIT $2`,
      [userId, limit],
    );
  }

  /**
   * The newest events of these types about a user, newest first. Not in the order of the primary key, because PostgreSQL would then scan
   * all of it for a user with few events.
   */
  newestAbout(userId: string, types: readonly string[], since: Date, limit: number): Promise<EventEntity[]> {
    return this.events
      .createQueryBuilder('event')
      .where('event.userId = :userId AND event.type = ANY (:types)', { userId, types })
      .andWhere('event.id COLLATE "C" >= :first', { first: firstIdAt('evnt', since) })
      .orderBy('event.id COLLATE "C"', 'DESC')
      .limit(limit)
      .getMany();
  }

  /** Removes the payloads of events about a user, and the user from them. */
  async eraseUser(userId: string): Promise<void> {
    await this.events.update({ userId, type: Not(CONSENT_REVOKED) }, { payload: null, userId: null });
  }
}
