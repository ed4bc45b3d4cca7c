import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, Column, Entity, PrimaryColumn } from 'typeorm';
import { DELIVERIES_OF_EVENT } from './deliveries-of-event.sql.js';
import { DisclosureDayEntity } from './disclosure.js';

/** The one row that says up to which event the deliveries are in the sums (contract §26). */
@Entity('disclosure_roll_up')
export class DisclosureRollUpEntity {
  @PrimaryColumn('boolean') isOnly!: true;
  /** The time of the event; with microseconds, so that only SQL compares it. */
  @Column('timestamptz') upTo!: Date;
}

/** Adds deliveries to the sums before they are purged (contract §26). In SQL: it reads the deliveries, and counts them once. */
@Injectable()
export class DeliverySumsRepository {
  constructor(
    @InjectRepository(DisclosureDayEntity) private readonly days: Repository<DisclosureDayEntity>,
  ) {}

  /**
   * Rolls up the deliveries of the oldest events that are past their retention, about `limit` of them, and returns the number of events, at
   * most `limit`. The position moves in the same statement, whose row admits one instance at a time: no delivery counts twice,
   * however often and wherever this runs.
   */
  async rollUp(retentionDays: number, limit: number): Promise<number> {
    const [result]: { events: number }[] = await this.days.query(
      `WITH place AS MATERIALIZED (
         SELECT r.up_to, now() - make_interval(days => $1) AS bound FROM disclosure_roll_up r FOR UPDATE SKIP LOCKED
       ), slice AS MATERIALIZED (
         -- With all events of its last moment, because the next slice begins after it.
         SELECT v.id, v.type, v.user_id, v.created_at, v.test FROM events v
          WHERE v.created_at > (SELECT up_to FROM place) AND v.created_at <= (SELECT bound FROM place)
          ORDER BY v.created_at FETCH FIRST $2 ROWS WITH TIES
       ), summed AS MATERIALIZED (
         SELECT v.user_id, d.client_id, (v.created_at AT TIME ZONE 'UTC')::date AS day, t.scope, count(*) AS deliveries
           FROM slice v
           JOIN event_types t ON t.name = v.type AND t.scope IS NOT NULL
           CROSS JOIN LATERAL ${DELIVERIES_OF_EVENT} d
          WHERE NOT v.test AND v.user_id IS NOT NULL
          GROUP BY 1, 2, 3, 4
       ), known AS MATERIALIZED (
         -- Locked, so that none of the consents goes before its sums are there.
         SELECT s.* FROM summed s JOIN consents n ON n.client_id = s.client_id AND n.user_id = s.user_id
          ORDER BY s.user_id, s.client_id FOR KEY SHARE OF n
       ), added AS (
         INSERT INTO disclosure_days AS d (user_id, client_id, day, scope, deliveries)
         SELECT user_id, client_id, day, scope, deliveries FROM known ORDER BY user_id, client_id, day, scope
         ON CONFLICT (user_id, client_id, day, scope) DO UPDATE SET deliveries = d.deliveries + excluded.deliveries
       ), moved AS (
         UPDATE disclosure_roll_up r
            SET up_to = CASE WHEN (SELECT count(*) FROM slice) < $2 THEN p.bound
                             ELSE (SELECT max(created_at) FROM slice) END
           FROM place p
          WHERE p.bound > r.up_to
       )
       SELECT least(count(*), $2)::int AS events FROM slice`,
      [retentionDays, limit],
    );
    return result!.events;
  }
}
