import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { consentIncludedSince, consentIsLive, userShares } from '#access/consents/consent.sql.js';
import { SETTLED_BELOW } from '#platform/database/queries/in-order-of-commits.js';
import { placeOf } from '../deliveries/delivery-lines.sql.js';
import { EventEntity } from '../events/event.entity.js';
import type { FeedPosition } from './feed-position.js';

/** How many events one statement reads. */
export const SCANNED_AT_ONCE = 1_000;

/** How many of the newest events of all clients are searched for those of one. */
const JUDGED_AMONG = 10_000;

/** Who reads the feed, and the scopes of the token. */
export interface FeedReader {
  clientId: string;
  scopes: readonly string[];
  /** Only the events that pass it; by default all. */
  filter?: string;
}

/** An event that conditions were tried with. */
export interface JudgedEvent {
  id: string;
  type: string;
  createdAt: Date;
  userId: string | null;
  scope: string | null;
  /** Whether each of them holds, in their order. */
  holds: boolean[];
}

/** What one read of the events found. */
export interface FeedLook {
  /** The bodies of the events that the client may see, oldest first, each with its position, user and scope. */
  events: (FeedPosition & { payload: string; userId: string | null; scope: string | null })[];
  /** How many events were read, and the last of them; not told if there are as many to show as were asked for. */
  scanned: number;
  last: FeedPosition | null;
  /** The position is ahead of every transaction: it is from before a restore. */
  isAhead: boolean;
}

/** Clients with new events up to a position. */
export interface FeedNews {
  clients: string[];
  last: FeedPosition | null;
  /** There are more after these. */
  isMore: boolean;
  /** There are events that cannot be shown yet, because an earlier transaction has not ended. */
  isHeldUp: boolean;
}

/**
 * The order of commits: an event is shown only when every transaction that began to write before it has ended, and those are
 * ordered by their numbers; events of one transaction by their ids.
 */
const IS_SETTLED = 'e.xid < (SELECT below FROM settled) AND NOT e.test';
const WITH_SETTLED = `WITH settled AS MATERIALIZED (SELECT ${SETTLED_BELOW} AS below)`;

/** That of an event (`s`); looked up for those of users who have a consent only. */
const SCOPE = '(SELECT t.scope FROM event_types t WHERE t.name = s.type)';

/** Whether the client (`$1`) may see an event (`s`) with the scopes (`$4`) now, and could since it was accepted. */
const IS_VISIBLE = `s.realm = (SELECT c.realm FROM clients c WHERE c.id = $1 AND c.enabled)
            AND CASE WHEN s.client_id IS NOT NULL THEN s.client_id = $1
                     ELSE s.type = ANY (ARRAY(SELECT t.name FROM event_types t WHERE t.scope = ANY ($4::text[])))
                      AND ${userShares('$1', 's.user_id', SCOPE, consentIncludedSince(SCOPE, 's.created_at'))} END`;

/**
 * The events in the order of their commits (contract §21). In SQL: TypeORM does not support `xid8`, and the statement checks
 * clients and consents.
 */
@Injectable()
export class EventFeedRepository {
  constructor(@InjectRepository(EventEntity) private readonly events: Repository<EventEntity>) {}

  /**
   * Reads events after a position, and returns up to `limit` that the client may see now, and could since they were accepted. Reads no
   * further than to the last of them.
   */
  async look(
    { clientId, scopes, filter }: FeedReader,
    after: FeedPosition,
    limit: number,
  ): Promise<FeedLook> {
    const scanned = (columns: string) =>
      `SELECT ${columns} FROM events e
        WHERE (e.xid, e.id) > ($2::xid8, $3::text) AND ${IS_SETTLED}
        ORDER BY e.xid, e.id LIMIT ${SCANNED_AT_ONCE}`;
    const [look]: FeedLook[] = await this.events.query(
      // Not materialized: in the order of the index, the events are read until there are enough.
      `${WITH_SETTLED}, shown AS MATERIALIZED (
         SELECT s.xid, s.id, s.user_id, ${SCOPE} AS scope
           FROM (${scanned('e.xid, e.id, e.type, e.user_id, e.client_id, e.realm, e.created_at, e.payload IS NOT NULL AS has_payload')}) s
          WHERE s.has_payload
            AND ${IS_VISIBLE}
            ${filter === undefined ? '' : 'AND (SELECT e.payload::jsonb @@ $6::jsonpath FROM events e WHERE e.id = s.id)'}
          ORDER BY s.xid, s.id LIMIT $5
       ), rest AS MATERIALIZED (
         SELECT count(*)::int AS count, max(xid) AS xid, (array_agg(id))[count(*)] AS id
           FROM (${scanned('e.xid, e.id')}) s
          WHERE (SELECT count(*) FROM shown) < $5
       )
       SELECT $2::xid8 >= pg_snapshot_xmax(pg_current_snapshot()) AS "isAhead", rest.count AS scanned,
              CASE WHEN rest.count > 0 THEN json_build_object('xid', rest.xid::text, 'eventId', rest.id) END AS last,
              coalesce((SELECT json_agg(json_build_object('xid', s.xid::text, 'eventId', s.id, 'payload', e.payload,
                                                          'userId', s.user_id, 'scope', s.scope)
                                        ORDER BY s.xid, s.id)
                          FROM shown s JOIN events e ON e.id = s.id AND e.payload IS NOT NULL), '[]') AS events
         FROM rest`,
      [clientId, after.xid, after.eventId, scopes, limit, ...(filter === undefined ? [] : [filter])],
    );
    return look!;
  }

  /**
   * The newest events of these types that the client may see as in the feed, with which of the predicates are true of each. They are
   * looked for among the newest of all clients.
   */
  judgeNewest(
    { clientId, scopes }: FeedReader,
    types: readonly string[],
    predicates: readonly string[],
    limit: number,
  ): Promise<JudgedEvent[]> {
    return this.events.query(
      `${WITH_SETTLED}
       SELECT s.id, s.type, s.created_at AS "createdAt", s.user_id AS "userId", ${SCOPE} AS scope,
              ARRAY(SELECT coalesce(s.payload::jsonb @@ p.predicate::jsonpath, false)
                      FROM unnest($5::text[]) WITH ORDINALITY AS p (predicate, place) ORDER BY p.place) AS holds
         FROM (SELECT * FROM events e WHERE ${IS_SETTLED} ORDER BY e.xid DESC, e.id DESC LIMIT ${JUDGED_AMONG}) s
        WHERE s.payload IS NOT NULL AND s.type = ANY ($3) AND ${IS_VISIBLE}
        ORDER BY s.xid DESC, s.id DESC LIMIT $2`,
      [clientId, limit, types, scopes, predicates],
    );
  }

  /**
   * The position of an event; undefined if it is not kept. For an event that is not settled, the position before all
   * unsettled ones: another may still come before it.
   */
  async positionOf(eventId: string): Promise<FeedPosition | undefined> {
    const [found]: FeedPosition[] = await this.events.query(
      `${WITH_SETTLED}
       SELECT least(e.xid, s.below)::text AS xid, CASE WHEN e.xid < s.below THEN e.id ELSE '' END AS "eventId"
         FROM events e, settled s
        WHERE e.id = $1 AND NOT e.test`,
      [eventId],
    );
    return found;
  }

  /** The position of the newest event; undefined if not found. */
  async newest(): Promise<FeedPosition | undefined> {
    const [found]: FeedPosition[] = await this.events.query(
      `${WITH_SETTLED}
       SELECT e.xid::text AS xid, e.id AS "eventId" FROM events e WHERE ${IS_SETTLED} ORDER BY e.xid DESC, e.id DESC LIMIT 1`,
    );
    return found;
  }

  /** Which of these clients the events after a position may be for. */
  async newsFor(clients: string[], after: FeedPosition): Promise<FeedNews> {
    const [news]: FeedNews[] = await this.events.query(
      `${WITH_SETTLED}, scanned AS MATERIALIZED (
         SELECT e.xid, e.id, e.user_id, e.client_id FROM events e
          WHERE (e.xid, e.id) > ($1::xid8, $2::text) AND ${IS_SETTLED}
          ORDER BY e.xid, e.id LIMIT ${SCANNED_AT_ONCE}
       )
       SELECT ARRAY(SELECT n.client_id FROM consents n
                     WHERE n.client_id = ANY ($3::text[]) AND ${consentIsLive('n')}
                       AND n.user_id IN (SELECT user_id FROM scanned WHERE client_id IS NULL)
                    UNION
                    SELECT client_id FROM scanned WHERE client_id = ANY ($3::text[])) AS clients,
              (SELECT json_build_object('xid', xid::text, 'eventId', id) FROM scanned ORDER BY xid DESC, id DESC LIMIT 1) AS last,
              (SELECT count(*) FROM scanned) = ${SCANNED_AT_ONCE} AS "isMore",
              EXISTS (SELECT 1 FROM events e WHERE e.xid >= (SELECT below FROM settled) AND NOT e.test) AS "isHeldUp"`,
      [after.xid, after.eventId, clients],
    );
    return news!;
  }

  /**
   * Events restored from a dump of a database whose transaction ids were higher: they get the id of this transaction, so that they
   * come after what was read and before later events. So do their deliveries in the lines of ordered endpoints.
   */
  async adoptRestored(): Promise<void> {
    await this.events.query(
      `WITH adopted AS (
         UPDATE events SET xid = pg_current_xact_id() WHERE xid >= pg_snapshot_xmax(pg_current_snapshot()) AND NOT test
         RETURNING id, xid
       )
       UPDATE deliveries d SET place = ${placeOf('a.xid')} FROM adopted a WHERE d.event_id = a.id AND d.line IS NOT NULL`,
    );
  }
}
