import { Injectable } from '@nestjs/common';
import { AuditService } from '../../../audit/audit.service.js';
import type { AuditEventEntity } from '../../../audit/audit-event.entity.js';
import type { ClientRequestEntity } from '../../../partners/request-log/client-request.entity.js';
import { RequestLogService } from '../../../partners/request-log/request-log.service.js';
import type { NewRequestRecord } from '../../../requests/request-record.entity.js';
import { RequestRecordsService } from '../../../requests/request-records.service.js';

/** As many requests as share an id of the caller's choice are of use; as many others as show what led to one. */
const SHOWN = 10;

/** A request that is known. */
export type KnownRequest = NewRequestRecord;

/** Requests by their ids, and what belongs to them. */
@Injectable()
export class ExplainedRequests {
  constructor(
    private readonly records: RequestRecordsService,
    private readonly ofClients: RequestLogService,
    private readonly audit: AuditService,
  ) {}

  /** The requests with this id, newest first: of the last seven days, or of the last ones of a client. */
  async withId(id: string): Promise<KnownRequest[]> {
    const records = await this.records.withId(id, SHOWN);
    if (records.length > 0) return records;
    const ofClients = await this.ofClients.withId(id, SHOWN);
    return ofClients.map((request) => ({ ...request, refusedKind: null, refused: null }));
  }

  /** What the request's client asked for up to then, newest first. */
  around({ clientId, occurredAt }: KnownRequest): Promise<ClientRequestEntity[]> {
    // The two logs note a request one after the other.
    const noted = new Date(occurredAt.getTime() + 1_000);
    return clientId === null ? Promise.resolve([]) : this.ofClients.before(clientId, noted, SHOWN);
  }

  /** What it changed. */
  async changesOf(requestId: string): Promise<AuditEventEntity[]> {
    return (await this.audit.list({ requestId }, { size: SHOWN })).items;
  }
}
