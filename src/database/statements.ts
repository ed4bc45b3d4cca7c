import { Injectable } from '@nestjs/common';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';

/**
 * The nth parameter as an array whose length the planner does not see. PostgreSQL plans a statement anew for every call for as
 * long as that promises to be cheaper, and for a short array it always does: planning a lookup took longer than the lookup.
 */
export const arrayParameter = (n: number, type: 'bytea' | 'text' | 'int'): string =>
  `((SELECT $${n}::${type}[])::${type}[])`;

/**
 * Statements that are sent again and again: named, so that PostgreSQL parses each once for a connection and plans it a few
 * times at most, where arrays come through `arrayParameter`. For the few that many requests wait for; everything else goes
 * through TypeORM's own `query`.
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
