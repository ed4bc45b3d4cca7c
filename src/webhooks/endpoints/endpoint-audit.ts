import { auditViewOf } from '../../audit/audit-view.js';
import { EndpointEntity } from './endpoint.entity.js';

/** The names of the headers, and which of them have a new value. */
export const headersShown = (names: readonly string[], newValues: readonly string[] = []): string[] =>
  names.map((name) => (newValues.includes(name) ? `${name} (new value)` : name));

/** What the audit log says of an endpoint. */
export const auditView = auditViewOf(
  EndpointEntity,
  {
    clientId: 'client_id',
    url: 'url',
    description: 'description',
    eventTypes: 'event_types',
    enabled: 'enabled',
    disabledReason: 'disabled_reason',
    maxPerMinute: 'max_per_minute',
    headerNames: 'headers',
  },
  {
    id: 'the subject of the event',
    realm: 'follows from the client',
    disabledAt: 'the time of the event that shows enabled',
    sealedSecret: 'has an event of its own: webhook_endpoint.secret_rotated',
    sealedPreviousSecret: 'changes with the secret',
    previousSecretExpiresAt: 'changes with the secret',
    sealedHeaders: 'secret: headers says which have a new value',
    lastAttemptAt: 'set by deliveries',
    failingSince: 'set by deliveries',
    recentResults: 'set by deliveries',
    createdAt: 'the time of webhook_endpoint.created',
    updatedAt: 'the time of the event',
    deletedAt: 'the time of webhook_endpoint.deleted',
  },
);
