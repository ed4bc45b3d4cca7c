import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThanOrEqual, Repository } from 'typeorm';
import { InputRows } from '#platform/database/queries/input-rows.js';
import { ClientRequestEntity, type NewClientRequest } from './client-request.entity.js';

/** Contract §20: how many are kept for each client. */
export const REQUESTS_KEPT = 200;

/** Statuses from `from` to `to`. */
interface StatusRange {
  from: number;
  to: number;
}

/** All given members must match. */
export interface RequestFilter {
  status?: StatusRange;
  requestId?: string;
}

const NEW = new InputRows<NewClientRequest>({
  text: ['clientId', 'method', 'route', 'error', 'requestId'],
  int: ['status', 'milliseconds'],
  boolean: ['injected'],
  timestamptz: ['occurredAt'],
});

@Injectable()
export class ClientRequestsRepository {
  constructor(
    @InjectRepository(ClientRequestEntity) private readonly requests: Repository<ClientRequestEntity>,
  ) {}

  /** Newest first. */
  list(clientId: string, { status, requestId }: RequestFilter): Promise<ClientRequestEntity[]> {
    const query = this.requests
      .createQueryBuilder('request')
      .where('request.clientId = :clientId', { clientId });
    if (status) query.andWhere('request.status BETWEEN :from AND :to', status);
    if (requestId !== undefined) query.andWhere('request.requestId = :requestId', { requestId });
    return query
      .orderBy('request.occurredAt', 'DESC')
      .addOrderBy('request.id', 'DESC')
      .limit(REQUESTS_KEPT)
      .getMany();
  }

  /** Up to `limit` requests with this id, of one client or of any, newest first. */
  withId(requestId: string, clientId: string | undefined, limit: number): Promise<ClientRequestEntity[]> {
    return this.requests.find({
      where: { requestId, ...(clientId === undefined ? {} : { clientId }) },
      order: { occurredAt: 'DESC', id: 'DESC' },
      take: limit,
    });
  }

  /** Up to `limit` requests of a client before a time, that one included, newest first. */
  before(clientId: string, time: Date, limit: number): Promise<ClientRequestEntity[]> {
    return this.requests.find({
      where: { clientId, occurredAt: LessThanOrEqual(time) },
      order: { occurredAt: 'DESC', id: 'DESC' },
      take: limit,
    });
  }

  /** In SQL, because one statement writes many rows. */
  async insert(requests: NewClientRequest[]): Promise<void> {
    await this.requests.query(
      `INSERT INTO client_requests (${NEW.columns}) SELECT * FROM unnest(${NEW.arrays}) AS r (${NEW.columns})`,
      NEW.parameters(requests),
    );
  }

  /** Removes all but the newest of these clients. In SQL, because which rows are removed depends on other rows. */
  async trim(clientIds: string[]): Promise<void> {
    await this.requests.query(
      `DELETE FROM client_requests r USING unnest($1::text[]) AS c (client_id), LATERAL (
         SELECT k.occurred_at, k.id FROM client_requests k WHERE k.client_id = c.client_id
          ORDER BY k.occurred_at DESC, k.id DESC OFFSET ${REQUESTS_KEPT} LIMIT 1
       ) AS last
        WHERE r.client_id = c.client_id AND (r.occurred_at, r.id) <= (last.occurred_at, last.id)`,
      [clientIds],
    );
  }
}
