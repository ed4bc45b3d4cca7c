import { Injectable } from '@nestjs/common';
import type { NewRequestRecord } from '#records/requests/request-record.entity.js';
import { RequestRecordsService } from '#records/requests/request-records.service.js';
import type { ClientRequestEntity } from './client-request.entity.js';
import { RequestLogService } from './request-log.service.js';

/** How many requests with the same caller-chosen id are shown, and how many others that led to one. */
const SHOWN = 10;

/** A request found in one of the two logs. */
export type KnownRequest = NewRequestRecord;

/** Finds requests by id, for the pages that explain them. */
@Injectable()
export class KnownRequests {
  constructor(
    private readonly records: RequestRecordsService,
    private readonly ofClients: RequestLogService,
  ) {}

  /**
   * The requests with this id, of one client or of any, newest first: of the last seven days, or of the last ones of a client. A
   * request with a client's id and a wrong secret also counts as the client's, so that it can see why it was refused.
   */
  async withId(id: string, clientId?: string): Promise<KnownRequest[]> {
    const records = await this.records.withId(id, clientId, SHOWN);
    if (records.length > 0) return records;
    const ofClients = await this.ofClients.withId(id, clientId, SHOWN);
    return ofClients.map((request) => ({ ...request, refusedKind: null, refused: null }));
  }

  /** The requests of the same client up to that time, newest first. */
  around({ clientId, occurredAt }: KnownRequest): Promise<ClientRequestEntity[]> {
    // The two logs record a request one after the other.
    const noted = new Date(occurredAt.getTime() + 1_000);
    return clientId === null ? Promise.resolve([]) : this.ofClients.before(clientId, noted, SHOWN);
  }
}
