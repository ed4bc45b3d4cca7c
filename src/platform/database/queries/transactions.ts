import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AccessChanges } from '../changes/access-changes.service.js';
import { runnerAround } from './transaction-around.js';

/**
 * Runs work in one transaction; a transaction that lost to another one is run again from the beginning. It is around everything that
 * the work calls: repositories join it, and an inner one is part of the outer one.
 */
@Injectable()
export class Transactions {
  constructor(
    private readonly dataSource: DataSource,
    private readonly changes: AccessChanges,
  ) {}

  /** Returns once it is committed, and this instance no longer relies on anything it changed. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    const isInner = runnerAround(this.dataSource) !== undefined;
    const result = await this.dataSource.transaction(work);
    if (!isInner) await this.changes.catchUp();
    return result;
  }
}
