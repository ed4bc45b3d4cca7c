import type { EndpointDisabledReason, EndpointEntity } from '../webhooks/endpoints/endpoint.entity.js';

/** A webhook endpoint on the wire, without its secret; `disabled_reason` is null unless the service disabled it. */
export interface EndpointView {
  id: string;
  client_id: string;
  url: string;
  description: string;
  event_types: string[];
  enabled: boolean;
  disabled_reason: EndpointDisabledReason | null;
  disabled_at: string | null;
  last_attempt_at: string | null;
  failing_since: string | null;
  created_at: string;
  updated_at: string;
}

export const endpointView = (endpoint: EndpointEntity): EndpointView => ({
  id: endpoint.id,
  client_id: endpoint.clientId,
  url: endpoint.url,
  description: endpoint.description,
  event_types: endpoint.eventTypes,
  enabled: endpoint.enabled,
  disabled_reason: endpoint.disabledReason,
  disabled_at: endpoint.disabledAt?.toISOString() ?? null,
  last_attempt_at: endpoint.lastAttemptAt?.toISOString() ?? null,
  failing_since: endpoint.failingSince?.toISOString() ?? null,
  created_at: endpoint.createdAt.toISOString(),
  updated_at: endpoint.updatedAt.toISOString(),
});
