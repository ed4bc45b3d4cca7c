import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { sharedPoolOf } from '../connections/shared-pool.js';
import { againIfLost } from './database-errors.js';

/**
 * The nth parameter as an array whose length the planner cannot see. PostgreSQL plans a statement for every call as long as that
 * promises to be cheaper, which for short arrays it always does: planning a lookup took longer than the lookup.
 */
export const arrayParameter = (n: number, type: string): string => `((SELECT $${n}::${type}[])::${type}[])`;

/**
 * Frequently used statements: named, so that PostgreSQL parses each once per connection and plans it a few times at most, if
 * arrays are passed through `arrayParameter`. For the few statements that many requests wait for, and which may take any connection
 * (`SharedPool`); everything else uses TypeORM's own `query`.
 */
@Injectable()
export class Statements {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Runs one of them in its own transaction and returns its rows. A name must always stand for the same text. Throws the driver's
   * errors.
   */
  async run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    const pool = sharedPoolOf(this.dataSource);
    return (await againIfLost(() => pool.queryFirst<Row>({ name, text, values }))).rows;
  }
}
