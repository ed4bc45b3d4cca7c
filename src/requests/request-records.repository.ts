import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { InputRows } from '../database/queries/input-rows.js';
import { RequestRecordEntity, type NewRequestRecord } from './request-record.entity.js';

const NEW = new InputRows<NewRequestRecord>({
  text: ['requestId', 'method', 'route', 'error', 'refusedKind', 'refused', 'clientId'],
  int: ['status', 'milliseconds'],
  boolean: ['injected'],
  timestamptz: ['occurredAt'],
});

@Injectable()
export class RequestRecordsRepository {
  constructor(
    @InjectRepository(RequestRecordEntity) private readonly records: Repository<RequestRecordEntity>,
  ) {}

  /** Up to `limit` requests with this id, of one client or of any, newest first. */
  withId(requestId: string, clientId: string | undefined, limit: number): Promise<RequestRecordEntity[]> {
    return this.records.find({
      where: { requestId, ...(clientId === undefined ? {} : { clientId }) },
      order: { occurredAt: 'DESC', id: 'DESC' },
      take: limit,
    });
  }

  /** In SQL, because one statement writes many rows. */
  async insert(records: NewRequestRecord[]): Promise<void> {
    await this.records.query(
      `INSERT INTO request_records (${NEW.columns}) SELECT * FROM unnest(${NEW.arrays}) AS r (${NEW.columns})`,
      NEW.parameters(records),
    );
  }
}
