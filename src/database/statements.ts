import { Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';

/**
 * Statements that are sent again and again: named, so that PostgreSQL parses and plans each once for a connection. For the
 * few that many requests wait for; everything else goes through TypeORM's own `query`.
 */
@Injectable()
export class Statements {
  constructor(private readonly dataSource: DataSource) {}

  /** Runs one of them in a transaction of its own; its rows. A name stands for one text. Throws what the driver throws. */
  async run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    const { master: pool } = this.dataSource.driver as unknown as { master: Pool };
    return (await pool.query<Row>({ name, text, values })).rows;
  }
}
