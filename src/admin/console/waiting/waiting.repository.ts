import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** How many wait for an operator. */
export interface Waiting {
  /** Live endpoints that fail. */
  endpoints: number;
  approvals: number;
  redirectUris: number;
}

@Injectable()
export class WaitingRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** In SQL: one statement over several modules' tables, for every page; each part has an index of the few rows that it counts. */
  async count(): Promise<Waiting> {
    const [row]: Waiting[] = await this.dataSource.query(
      `SELECT (SELECT count(*)::int FROM webhook_endpoints e
                WHERE e.enabled AND e.failing_since IS NOT NULL AND e.deleted_at IS NULL AND e.realm = 'live') AS endpoints,
              (SELECT count(*)::int FROM approvals a WHERE a.state = 'pending' AND a.expires_at > now()) AS approvals,
              (SELECT count(*)::int FROM redirect_uri_requests r WHERE r.state = 'pending') AS "redirectUris"`,
    );
    return row!;
  }
}
