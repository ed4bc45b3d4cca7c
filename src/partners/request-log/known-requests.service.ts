import { Injectable } from '@nestjs/common';
import type { NewRequestRecord } from '../../requests/request-record.entity.js';
import { RequestRecordsService } from '../../requests/request-records.service.js';
import type { ClientRequestEntity } from './client-request.entity.js';
import { RequestLogService } from './request-log.service.js';

/** As many requests as share an id of the caller's choice are of use; as many others as show what led to one. */
const SHOWN = 10;

/** A request that is known. */
export type KnownRequest = NewRequestRecord;

/** Requests by their ids, for the pages that explain them. */
@Injectable()
export class KnownRequests {
  constructor(
    private readonly records: RequestRecordsService,
    private readonly ofClients: RequestLogService,
  ) {}

  /**
   * The requests with this id, of one client or of any, newest first: of the last seven days, or of the last ones of a client. Those with a
   * client's id and a wrong secret are the client's, too: it has to learn why they are refused.
   */
  async withId(id: string, clientId?: string): Promise<KnownRequest[]> {
    const records = await this.records.withId(id, clientId, SHOWN);
    if (records.length > 0) return records;
    const ofClients = await this.ofClients.withId(id, clientId, SHOWN);
    return ofClients.map((request) => ({ ...request, refusedKind: null, refused: null }));
  }

  /** What the request's client asked for up to then, newest first. */
  around({ clientId, occurredAt }: KnownRequest): Promise<ClientRequestEntity[]> {
    // The two logs note a request one after the other.
    const noted = new Date(occurredAt.getTime() + 1_000);
    return clientId === null ? Promise.resolve([]) : this.ofClients.before(clientId, noted, SHOWN);
  }
}
