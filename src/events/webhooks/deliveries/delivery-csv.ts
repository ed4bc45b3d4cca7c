import type { CsvColumns } from '#platform/http/page-routes/csv-answer.js';
import type { Delivery } from './delivery.js';

/** The columns of a list of deliveries as a file, for operators and partners alike. */
export const DELIVERY_CSV: CsvColumns<Delivery> = [
  ['id', ({ id }) => id],
  ['created_at', ({ createdAt }) => createdAt],
  ['event_id', ({ eventId }) => eventId],
  ['event_type', ({ eventType }) => eventType],
  ['client_id', ({ clientId }) => clientId],
  ['endpoint_id', ({ endpointId }) => endpointId],
  ['endpoint_url', ({ endpointUrl }) => endpointUrl],
  ['state', ({ state }) => state],
  ['cancel_reason', ({ cancelReason }) => cancelReason],
  ['attempts', ({ attempts }) => attempts],
  ['last_attempt_at', ({ lastAttemptAt }) => lastAttemptAt],
  ['last_status', ({ lastStatus }) => lastStatus],
  ['last_failure', ({ lastFailure }) => lastFailure],
  ['finished_at', ({ finishedAt }) => finishedAt],
  ['test', ({ isTest }) => isTest],
];
