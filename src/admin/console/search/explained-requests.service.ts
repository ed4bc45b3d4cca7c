import { Injectable } from '@nestjs/common';
import { AuditService } from '../../../audit/audit.service.js';
import type { AuditEventEntity } from '../../../audit/audit-event.entity.js';
import { AUTHORIZATION_ERROR_KINDS, OAUTH_ERROR_KINDS } from '../../../http/problems/oauth-error-kinds.js';
import { PROBLEM_KINDS } from '../../../http/problems/problem-kinds.js';
import type { ClientRequestEntity } from '../../../partners/request-log/client-request.entity.js';
import { RequestLogService } from '../../../partners/request-log/request-log.service.js';
import type { NewRequestRecord } from '../../../requests/request-record.entity.js';
import { RequestRecordsService } from '../../../requests/request-records.service.js';
import { refusalMessage } from '../clients/operator-refusal-messages.js';

/** As many requests as share an id of the caller's choice are of use; as many others as show what led to one. */
const SHOWN = 10;

/** A request that is known. */
export type KnownRequest = NewRequestRecord;

/** Why a request was refused, and what to do about it. */
export interface Reason {
  what: string;
  help: string;
}

/** Requests by their ids, and why they were refused. */
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

const KINDS: Record<string, { title?: string; cause?: string; explanation?: string; whatToDo: string }> = {
  ...AUTHORIZATION_ERROR_KINDS,
  ...OAUTH_ERROR_KINDS,
  ...PROBLEM_KINDS,
};

/** Why it was refused: the reason that was noted, else what its error means; undefined if it was served. */
export function reasonOf({ status, error, refusedKind, refused }: KnownRequest): Reason | undefined {
  if (status < 400) return undefined;
  if (refusedKind !== null && refused !== null) {
    const { what, help } = refusalMessage(refusedKind, refused);
    if (help !== '') return { what, help };
  }
  const kind = error !== null && Object.hasOwn(KINDS, error) ? KINDS[error]! : undefined;
  if (kind) return { what: (kind.explanation ?? kind.cause)!, help: kind.whatToDo };
  return status < 500
    ? { what: 'The request was refused.', help: 'Its response says why.' }
    : { what: 'The service failed.', help: 'Its log has the error, under the same request ID.' };
}
