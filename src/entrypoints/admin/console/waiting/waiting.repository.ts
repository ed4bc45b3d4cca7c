import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** The counts in the navigation of the console. */
export interface Waiting {
  /** Failing endpoints of live clients. */
  endpoints: number;
  approvals: number;
  redirectUris: number;
}

@Injectable()
export class WaitingRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** In SQL: one statement over several modules' tables that runs for every page; each count has a partial index. */
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
