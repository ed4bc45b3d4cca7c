import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AccessChanges } from '../changes/access-changes.service.js';

/** Runs work in one transaction; a transaction that lost to another one is run again from the beginning. */
@Injectable()
export class Transactions {
  constructor(
    private readonly dataSource: DataSource,
    private readonly changes: AccessChanges,
  ) {}

  /** Returns once it is committed, and this instance no longer relies on anything it changed. */
  async run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const result = await this.dataSource.transaction(work);
    await this.changes.catchUp();
    return result;
  }
}
