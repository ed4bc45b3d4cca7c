import type { ThrottlerOptions } from '@nestjs/throttler';
import { HOUR_MS } from '#platform/config/durations.js';
import type { Settings } from '#platform/config/settings.js';
import { principalIn } from '#access/tokens/access/current-principal.decorator.js';
import type { Principal } from '#access/tokens/access/principal.js';

/** The key under which requests of this client and user are counted; without a user, those of the client itself. */
export const partnerKey = (clientId: string, userId = ''): string => `partner:${clientId}:${userId}`;

/** Requests per hour: the client's own limit if it has one. */
export const partnerLimitOf = ({ client }: Principal, { rateLimit }: Pick<Settings, 'rateLimit'>): number =>
  client.rateLimit ?? rateLimit;

/** The limit of partners' endpoints (contract §7): requests in a rolling hour, per client and user. Runs after the bearer guard. */
export const partnerLimit = (settings: Settings): ThrottlerOptions => ({
  ttl: HOUR_MS,
  limit: (context) => partnerLimitOf(principalIn(context), settings),
  getTracker: (_request, context) => {
    const { client, userId } = principalIn(context);
    return partnerKey(client.id, userId);
  },
  generateKey: (_context, tracker) => tracker,
});
