import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AccessChanges } from '../changes/access-changes.service.js';
import { isLostRace } from './database-errors.js';

const ATTEMPTS = 4;

/** Runs work in one transaction; a transaction that lost a deadlock is run again from the beginning. */
@Injectable()
export class Transactions {
  constructor(
    private readonly dataSource: DataSource,
    private readonly changes: AccessChanges,
  ) {}

  /** Returns once it is committed, and this instance no longer relies on anything it changed. */
  async run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const result = await this.retried(() => this.dataSource.transaction(work));
    await this.changes.catchUp();
    return result;
  }

  /** The same for a single statement, which is its own transaction. */
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
