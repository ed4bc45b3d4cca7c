import { ulid } from 'ulid';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { newId } from '#platform/secrets/ids.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import type { Attempt, CancelReason, DeliveryState } from '#events/webhooks/deliveries/delivery.js';
import { BrowserSession, type Page } from './browser-session.js';
import type { TestClient } from './factory.js';
import type { TestService } from './test-service.js';
import { redeemPortalLink } from './without-pages.js';

/** A browser in the client's portal, as a one-time link opens it; test/e2e/webhook-portal.spec.ts has the link and its page. */
export async function enterPortal(service: TestService, client: TestClient): Promise<BrowserSession> {
  const browser = new BrowserSession(service.url);
  await redeemPortalLink(service, browser, client);
  return browser;
}

let counter = 0;

/** Creates an endpoint of the client without the portal; by default nothing listens at its address. */
export async function makeEndpoint(
  service: TestService,
  client: TestClient,
  input: Partial<{ url: string; description: string; eventTypes: string[]; enabled: boolean }> = {},
): Promise<EndpointEntity & { secret: string }> {
  const defaults = { url: `http://127.0.0.1:9/hook/${++counter}`, eventTypes: ['vehicle.updated'] };
  const { endpoint, secret } = await service.app
    .get(EndpointsService)
    .create(client.id, { ...defaults, ...input }, SERVICE_ACTOR);
  return Object.assign(endpoint, { secret });
}

export interface SeededDelivery {
  state: DeliveryState;
  type?: string;
  cancelReason?: CancelReason;
  /** When it was created. */
  at?: Date;
  attempts?: Partial<Attempt>[];
  isTest?: boolean;
  /** The user it concerns; by default a user without a row. */
  userId?: string;
  data?: object;
}

/** Inserts a delivery with its attempts, as the worker would have left it; a pending one is due in an hour. Returns its id. */
export async function seedDelivery(
  { database }: TestService,
  endpoint: EndpointEntity,
  {
    state,
    type = 'vehicle.updated',
    cancelReason,
    at,
    attempts = [],
    isTest = false,
    userId,
    data = { id: 'é' },
  }: SeededDelivery,
): Promise<string> {
  const eventId = newId('evnt');
  const id = at ? `dlvr${ulid(at.getTime())}` : newId('dlvr');
  const payload = JSON.stringify({
    id: eventId,
    type,
    timestamp: '2026-01-31T08:00:00Z',
    user_id: userId ?? 'user1',
    data,
  });
  await database.query(
    `INSERT INTO events (id, type, payload, deliveries, test, user_id, realm, client_id)
     VALUES ($1, $2, $3, 1, $4, $5, (SELECT realm FROM webhook_endpoints WHERE id = $6), CASE WHEN $4 THEN $7 END)`,
    [eventId, type, payload, isTest, userId ?? null, endpoint.id, endpoint.clientId],
  );
  await database.query(
    `INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, state, cancel_reason, attempts,
                             next_attempt_at, created_at, finished_at, realm)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, CASE WHEN $6 = 'pending' THEN now() + interval '1 hour' END,
             coalesce($9, now()), CASE WHEN $6 <> 'pending' THEN now() END,
             (SELECT realm FROM webhook_endpoints WHERE id = $4))`,
    [
      id,
      eventId,
      type,
      endpoint.id,
      endpoint.clientId,
      state,
      cancelReason ?? null,
      attempts.length,
      at ?? null,
    ],
  );
  for (const [index, attempt] of attempts.entries()) {
    await database.query(
      `INSERT INTO delivery_attempts (delivery_id, number, attempted_at, duration_ms, status, failure, detail,
                                      response_start, signature, url)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
      [
        id,
        index + 1,
        attempt.attemptedAt ?? at ?? new Date(),
        attempt.durationMs ?? 120,
        attempt.status ?? null,
        attempt.failure ?? null,
        attempt.detail ?? null,
        attempt.responseStart ?? null,
        attempt.signature ?? `v1,${'A'.repeat(43)}=`,
        endpoint.url,
      ],
    );
  }
  return id;
}

/** The text of the page without its markup. */
export const wordsOf = (page: Page): string => page.html.querySelector('main')!.text.replace(/\s+/g, ' ');

/** The error message beside a field, by the id of the field. */
export const errorAt = (page: Page, field: string): string | undefined =>
  page.html.querySelector(`#${field}-error`)?.text;
