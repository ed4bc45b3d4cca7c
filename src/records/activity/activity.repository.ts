import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, Column, Entity, PrimaryColumn } from 'typeorm';
import { InputRows } from '#platform/database/queries/input-rows.js';
import {
  EVERYBODY,
  REFUSALS,
  type ActivityKind,
  type Counted,
  type CountedSince,
  type HourlyTotal,
  type RefusedClient,
} from './activity.js';
import { TextOrNull } from '#platform/database/entities/columns.js';

/** How often something happened in an hour: for one client, without a known client, or in total (`all`). */
@Entity('activity_hours')
export class ActivityHourEntity {
  @PrimaryColumn('text') clientId!: string;
  @PrimaryColumn('timestamptz') hour!: Date;
  @PrimaryColumn('text') kind!: string;
  @PrimaryColumn('text') detail!: string;
  @Column('bigint') count!: string;
  @Column('timestamptz') lastAt!: Date;
  @TextOrNull() lastAddress!: string | null;
}

const COUNTED = new InputRows<Counted>({
  text: ['clientId', 'kind', 'detail', 'lastAddress'],
  bigint: ['count'],
  timestamptz: ['lastAt'],
});

/** Tells all instances of the addresses of an erased person, as JSON. */
export const ERASED_CHANNEL = 'erased_addresses';
// A notification has less than 8,000 bytes.
const TOLD_AT_ONCE = 100;

@Injectable()
export class ActivityRepository {
  constructor(@InjectRepository(ActivityHourEntity) private readonly hours: Repository<ActivityHourEntity>) {}

  /**
   * Adds counts to the current hour, for their clients and in total, always in the same order, so that instances do not deadlock.
   * Sandbox clients do not count in the total, because tests of partners must not trigger alerts. In SQL, because one statement
   * adds many counts to existing rows.
   */
  async add(counts: Counted[]): Promise<void> {
    await this.hours.query(
      `WITH given AS (
         SELECT client_id, kind, detail, count, last_at, last_address FROM unnest(${COUNTED.arrays}) AS g (${COUNTED.columns})
       ), everybody AS (
         SELECT $7::text, g.kind, g.detail, sum(g.count)::bigint, max(g.last_at),
                (array_agg(g.last_address ORDER BY g.last_at DESC))[1]
           FROM given g LEFT JOIN clients c ON c.id = g.client_id
          WHERE c.environment IS DISTINCT FROM 'sandbox' GROUP BY g.kind, g.detail
       )
       INSERT INTO activity_hours AS a (client_id, hour, kind, detail, count, last_at, last_address)
       SELECT client_id, date_trunc('hour', now(), 'UTC'), kind, detail, count, last_at, last_address
         FROM (SELECT * FROM given UNION ALL SELECT * FROM everybody)
           AS counted (client_id, kind, detail, count, last_at, last_address)
        ORDER BY 1, 3, 4
       ON CONFLICT (client_id, hour, kind, detail) DO UPDATE SET
         count = a.count + excluded.count,
         last_at = greatest(a.last_at, excluded.last_at),
         last_address = CASE WHEN excluded.last_at >= a.last_at THEN excluded.last_address ELSE a.last_address END`,
      [...COUNTED.parameters(counts), EVERYBODY],
    );
  }

  /** Removes these addresses. In SQL: the rows are locked in the order in which `add` locks them. */
  async forgetAddresses(addresses: string[]): Promise<void> {
    if (addresses.length === 0) return;
    await this.hours.manager.query(
      `UPDATE activity_hours a SET last_address = NULL
         FROM (SELECT client_id, hour, kind, detail FROM activity_hours WHERE last_address = ANY ($1)
                ORDER BY client_id, kind, detail, hour FOR NO KEY UPDATE) AS held
        WHERE (a.client_id, a.hour, a.kind, a.detail) = (held.client_id, held.hour, held.kind, held.detail)`,
      [addresses],
    );
  }

  /** Tells all instances of these addresses once the transaction is committed. */
  async announceErased(addresses: string[]): Promise<void> {
    for (let n = 0; n < addresses.length; n += TOLD_AT_ONCE) {
      const some = addresses.slice(n, n + TOLD_AT_ONCE);
      await this.hours.manager.query('SELECT pg_notify($1, $2)', [ERASED_CHANNEL, JSON.stringify(some)]);
    }
  }

  /** The hourly totals since a time. */
  hoursOfAll(since: Date): Promise<HourlyTotal[]> {
    return this.hoursSince(EVERYBODY, since).getRawMany<HourlyTotal>();
  }

  /** The hours for one client since a time. Refusals in the portal are left out, because they are not requests of the client. */
  hoursOf(clientId: string, kinds: ActivityKind[], since: Date): Promise<HourlyTotal[]> {
    return this.hoursSince(clientId, since)
      .andWhere("activity.kind = ANY (:kinds) AND activity.detail <> 'portal'", { kinds })
      .getRawMany<HourlyTotal>();
  }

  private hoursSince(clientId: string, since: Date) {
    return this.hours
      .createQueryBuilder('activity')
      .select('activity.hour', 'hour')
      .addSelect('activity.kind', 'kind')
      .addSelect('sum(activity.count)::float8', 'count')
      .where('activity.clientId = :clientId AND activity.hour >= :since', { clientId, since })
      .groupBy('activity.hour')
      .addGroupBy('activity.kind')
      .orderBy('activity.hour');
  }

  /** The activity of one client since a time, latest first. */
  ofClient(clientId: string, kinds: ActivityKind[], since: Date): Promise<CountedSince[]> {
    return this.hours
      .createQueryBuilder('activity')
      .select('activity.clientId', 'clientId')
      .addSelect('activity.kind', 'kind')
      .addSelect('activity.detail', 'detail')
      .addSelect('sum(activity.count)::float8', 'count')
      .addSelect('min(activity.hour)', 'firstHour')
      .addSelect('max(activity.lastAt)', 'lastAt')
      .addSelect('(array_agg(activity.lastAddress ORDER BY activity.lastAt DESC))[1]', 'lastAddress')
      .where('activity.clientId = :clientId AND activity.hour >= :since AND activity.kind = ANY (:kinds)', {
        clientId,
        since,
        kinds,
      })
      .groupBy('activity.clientId')
      .addGroupBy('activity.kind')
      .addGroupBy('activity.detail')
      .orderBy('max(activity.lastAt)', 'DESC')
      .getRawMany<CountedSince>();
  }

  /** The live clients with the most refusals in the last 24 hours. In SQL, for the same reason as below. */
  mostRefused(limit: number): Promise<RefusedClient[]> {
    return this.hours.query(
      `SELECT c.id, c.name, sum(a.count)::float8 AS refused, max(a.last_at) AS "lastAt"
         FROM activity_hours a JOIN clients c ON c.id = a.client_id
        WHERE a.hour > date_trunc('hour', now(), 'UTC') - interval '24 hours' AND a.kind = ANY ($2) AND c.environment = 'live'
        GROUP BY c.id ORDER BY refused DESC, c.id LIMIT $1`,
      [limit, REFUSALS],
    );
  }

  /**
   * The live clients that were near or over their limit in the current or the previous hour, worst first. In SQL, because it joins the
   * clients, whose module is in a higher layer.
   */
  nearLimit(limit: number): Promise<RefusedClient[]> {
    return this.hours.query(
      `SELECT c.id, c.name, coalesce(sum(a.count) FILTER (WHERE a.kind = 'rate_limited'), 0)::float8 AS refused,
              max(a.last_at) AS "lastAt"
         FROM activity_hours a JOIN clients c ON c.id = a.client_id
        WHERE a.hour >= date_trunc('hour', now(), 'UTC') - interval '1 hour' AND a.kind IN ('rate_limited', 'rate_limit_near') AND a.detail <> 'portal'
          AND c.environment = 'live'
        GROUP BY c.id ORDER BY refused DESC, c.id LIMIT $1`,
      [limit],
    );
  }
}
