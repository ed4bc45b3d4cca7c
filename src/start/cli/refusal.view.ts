import type { RequestRecordEntity } from '#records/requests/request-record.entity.js';

/** A refused request as it is written for another system: neither a person nor an address. */
export const RefusalView = {
  of: (record: RequestRecordEntity) => ({
    id: record.id,
    occurred_at: record.occurredAt.toISOString(),
    request_id: record.requestId,
    client_id: record.clientId,
    method: record.method,
    route: record.route,
    status: record.status,
    error: record.error,
    kind: record.refusedKind,
    reason: record.refused,
    milliseconds: record.milliseconds,
    injected: record.injected,
  }),
};
