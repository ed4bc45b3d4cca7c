import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { Counts } from '#platform/web/layout/navigation.js';
import { WaitingCounts, type WaitingCount } from './waiting-counts.js';

const OWN: WaitingCount[] = [
  {
    part: 'endpoints',
    word: 'failing',
    sql: `SELECT count(*)::int FROM webhook_endpoints e
           WHERE e.enabled AND e.failing_since IS NOT NULL AND e.deleted_at IS NULL AND e.realm = 'live'`,
  },
];

/** The counts in the navigation of the console. */
@Injectable()
export class WaitingRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly counts: WaitingCounts,
  ) {}

  /** In SQL: one statement over several modules' tables that runs for every page. */
  async count(): Promise<Counts> {
    const all = [...OWN, ...this.counts.added];
    const [row]: Record<string, number>[] = await this.dataSource.query(
      `SELECT ${all.map(({ part, sql }) => `(${sql}) AS "${part}"`).join(', ')}`,
    );
    return Object.fromEntries(all.map(({ part, word }) => [part, { number: row![part]!, word }]));
  }
}
