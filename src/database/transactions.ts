import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isLostRace } from './database-errors.js';

const ATTEMPTS = 4;

/** Runs what must agree in one transaction; a transaction that lost a deadlock is run again from its beginning. */
@Injectable()
export class Transactions {
  constructor(private readonly dataSource: DataSource) {}

  run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.retried(() => this.dataSource.transaction(work));
  }

  /** The same for one statement, which is a transaction of its own. */
  async retried<T>(statement: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await statement();
      } catch (error) {
        if (attempt === ATTEMPTS || !isLostRace(error)) throw error;
      }
    }
  }
}
