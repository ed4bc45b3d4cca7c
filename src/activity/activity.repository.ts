import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { EVERYBODY, type ActivityKind, type Counted } from './activity.js';

/** How often something happened in one hour, for everybody. */
export interface HourOfAll {
  hour: Date;
  kind: ActivityKind;
  count: number;
}

/** A client that was rate limited, or is close to its limit. */
export interface ClientNearLimit {
  id: string;
  name: string;
  /** Requests refused in the current and the previous hour. */
  refused: number;
  lastAt: Date;
}

@Injectable()
export class ActivityRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Adds counts to the current hour in one statement, always in the same order, so that instances do not deadlock. */
  async add(counts: Counted[]): Promise<void> {
    const column = <K extends keyof Counted>(name: K) => counts.map((each) => each[name]);
    await this.dataSource.query(
      `INSERT INTO activity_hours AS a (client_id, hour, kind, detail, count, last_at, last_address)
       SELECT client_id, date_trunc('hour', now(), 'UTC'), kind, detail, count, last_at, last_address
         FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::timestamptz[], $6::text[])
           AS given (client_id, kind, detail, count, last_at, last_address)
        ORDER BY 1, 3, 4
       ON CONFLICT (client_id, hour, kind, detail) DO UPDATE SET
         count = a.count + excluded.count,
         last_at = greatest(a.last_at, excluded.last_at),
         last_address = CASE WHEN excluded.last_at >= a.last_at THEN excluded.last_address ELSE a.last_address END`,
      [
        column('clientId'),
        column('kind'),
        column('detail'),
        column('count'),
        column('lastAt'),
        column('lastAddress'),
      ],
    );
  }

  /** The hours for everybody since a time. */
  hoursOfAll(since: Date): Promise<HourOfAll[]> {
    return this.dataSource.query(
      `SELECT hour, kind, sum(count)::float8 AS count FROM activity_hours
        WHERE client_id = '${EVERYBODY}' AND hour >= $1 GROUP BY hour, kind ORDER BY hour`,
      [since],
    );
  }

  /** The activity of one client since a time, latest first. */
  ofClient(clientId: string, kinds: ActivityKind[], since: Date): Promise<Counted[]> {
    return this.dataSource.query(
      `SELECT client_id AS "clientId", kind, detail, sum(count)::float8 AS count, max(last_at) AS "lastAt",
              (array_agg(last_address ORDER BY last_at DESC))[1] AS "lastAddress"
         FROM activity_hours WHERE client_id = $1 AND hour >= $2 AND kind = ANY ($3)
        GROUP BY client_id, kind, detail ORDER BY max(last_at) DESC`,
      [clientId, since, kinds],
    );
  }

  /** The clients that were near or over their limit in the current or the previous hour, worst first. */
  nearLimit(limit: number): Promise<ClientNearLimit[]> {
    return this.dataSource.query(
      `SELECT c.id, c.name, coalesce(sum(a.count) FILTER (WHERE a.kind = 'rate_limited'), 0)::float8 AS refused,
              max(a.last_at) AS "lastAt"
         FROM activity_hours a JOIN clients c ON c.id = a.client_id
        WHERE a.hour >= date_trunc('hour', now(), 'UTC') - interval '1 hour' AND a.kind IN ('rate_limited', 'rate_limit_near')
        GROUP BY c.id ORDER BY refused DESC, c.id LIMIT $1`,
      [limit],
    );
  }
}
