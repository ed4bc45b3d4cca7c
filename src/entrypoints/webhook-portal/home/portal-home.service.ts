import { Injectable } from '@nestjs/common';
import { ClientSecretsService } from '#access/clients/client-secrets.service.js';
import { usesKeys } from '#access/clients/client.entity.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { SecretUsesService } from '#access/clients/secret-uses.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { RateLimitsService } from '#access/rate-limits/rate-limits.service.js';
import { sumOf } from '#platform/web/charts/numbers.js';
import { RANGES, bucketsOf, rangeStart } from '#platform/web/charts/ranges.js';
import { whyFailing } from '#events/webhooks/deliveries/failure-messages.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import type { EndpointInList, HourlyAttempts } from '#events/webhooks/endpoints/endpoint-health.js';
import { ENDPOINTS_PER_CLIENT, EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';

/** People are counted up to this number. */
export const PEOPLE_COUNTED_TO = 10_000;

/** Deliveries among which the reason of a failure is looked for. */
const NEWEST = 10;

/** What the first page of the portal says about a client. */
export interface PortalHome {
  endpoints: EndpointInList[];
  /** How many of them fail, and why the one does that has failed for longest. */
  failing?: { all: number; first: EndpointInList; cause?: string };
  /** Whether it has a secret. */
  isConfidential: boolean;
  /** What a new partner has done; `user` only for a client that users can authorize. */
  done: { credentials: boolean; token: boolean; endpoint: boolean; delivery: boolean; user?: boolean };
  /** Requests in a rolling hour, and how many of them are left. */
  limit: number;
  remaining: number;
  /** The attempts of the last 24 hours, by the hour. */
  attempts: { start: Date; delivered: number; failed: number }[];
  /** How many users currently authorize the client; undefined for a client that no user can authorize. */
  people: number | undefined;
}

/** Gathers what the first page of the portal shows. */
@Injectable()
export class PortalHomeService {
  constructor(
    private readonly clients: ClientsService,
    private readonly secrets: ClientSecretsService,
    private readonly uses: SecretUsesService,
    private readonly consents: ConsentsService,
    private readonly endpoints: EndpointsService,
    private readonly deliveries: DeliveriesService,
    private readonly limits: RateLimitsService,
  ) {}

  async of(clientId: string): Promise<PortalHome> {
    const now = new Date();
    const day = RANGES['24h'];
    await this.uses.flush();
    const [client, secrets, counted, { items: endpoints }, hasDelivered, hours] = await Promise.all([
      this.clients.get(clientId),
      this.secrets.list(clientId),
      this.consents.countSharing(clientId, PEOPLE_COUNTED_TO),
      this.endpoints.list(clientId, { size: ENDPOINTS_PER_CLIENT }),
      this.deliveries.hasDelivered(clientId),
      this.endpoints.hoursOfAll(rangeStart(day, now), clientId),
    ]);
    const state = await this.limits.stateOfPartner(client);
    const hasUsedKeys = usesKeys(client) && (await this.uses.ofKeys(clientId)).size > 0;
    const takesUsers = client.grantTypes.includes('authorization_code');
    return {
      endpoints,
      failing: await this.failing(clientId, endpoints),
      isConfidential: client.type === 'confidential',
      done: {
        credentials:
          client.type === 'public' || usesKeys(client) || secrets.some(({ isExpired }) => !isExpired),
        token: counted > 0 || hasUsedKeys || secrets.some(({ lastUsedAt }) => lastUsedAt !== null),
        endpoint: endpoints.length > 0,
        // Also while the only delivery that arrived is being sent again.
        delivery: hasDelivered || endpoints.some(({ hasSucceeded }) => hasSucceeded),
        ...(takesUsers ? { user: counted > 0 } : {}),
      },
      ...state,
      attempts: bucketsOf(hours, day, now).map(({ start, hours: inside }) => ({ start, ...totalOf(inside) })),
      people: takesUsers ? counted : undefined,
    };
  }

  private async failing(clientId: string, endpoints: EndpointInList[]): Promise<PortalHome['failing']> {
    const failing = failingOf(endpoints);
    const [first] = failing;
    if (!first) return undefined;
    const { items } = await this.deliveries.list({ clientId, endpointId: first.id }, { size: NEWEST });
    return { all: failing.length, first, cause: whyFailing(items) };
  }
}

/** Those without a success since their last failures, which have failed for longest first. */
const failingOf = (endpoints: EndpointInList[]): EndpointInList[] =>
  endpoints
    .filter(({ enabled, failingSince }) => enabled && failingSince !== null)
    .toSorted((one, other) => one.failingSince!.getTime() - other.failingSince!.getTime());

const totalOf = (hours: HourlyAttempts[]) => ({
  delivered: sumOf(hours.map((hour) => hour.delivered)),
  failed: sumOf(hours.map((hour) => hour.failed)),
});
