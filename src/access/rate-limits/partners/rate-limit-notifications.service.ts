import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { Listener } from '#platform/database/connections/listener.service.js';
import { outsideTransaction } from '#platform/database/queries/transaction-around.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import type { NotificationEntity } from '#records/notifications/notification.entity.js';
import { newId } from '#platform/secrets/ids.js';
import {
  RateLimitNotificationsRepository,
  type PeriodNotification,
} from './rate-limit-notifications.repository.js';
import { upTo } from '#platform/config/cache-capacity.js';

// Contract §7: the first refusal opens a period of one hour.
const PERIOD_SECONDS = 3600;
// How stale a notification may be while changes are not announced to this instance.
const UNHEARD_MS = 5_000;
const CACHED_PAIRS = 10_000;
const CHANNEL = 'notification_changes';

/** A client that was refused. */
type LimitedClient = Pick<ClientEntity, 'id' | 'environment'>;

interface Kept {
  notification: Promise<NotificationEntity | undefined>;
  id?: string;
  /** Milliseconds of the process's monotonic clock. */
  until: number;
}

/**
 * The notification shown in refusals. It is created by the first refusal of a period, and cached until the period ends or the
 * database announces a change of it (migrations/1764000000006-notifications.ts).
 */
@Injectable()
export class RateLimitNotificationsService {
  private readonly keyOf = new Map<string, string>();
  private readonly kept = new LRUCache<string, Kept>({
    ...upTo(CACHED_PAIRS),
    dispose: ({ id }) => id !== undefined && this.keyOf.delete(id),
  });
  private heard = 0;

  constructor(
    private readonly repository: RateLimitNotificationsRepository,
    private readonly listener: Listener,
  ) {
    listener.listen(CHANNEL, {
      onConnected: () => this.forget('*'),
      onLost: () => this.forget('*'),
      onAnnouncement: (payload) => this.forget(payload),
    });
  }

  /** The notification of the current period of this client and user; concurrent refusals share one query. */
  notificationFor(
    client: LimitedClient,
    userId: string,
    limit: number,
  ): Promise<NotificationEntity | undefined> {
    const key = `${client.id} ${userId}`;
    const known = this.kept.get(key);
    if (known && known.until > performance.now()) return known.notification;
    const begun = performance.now();
    const { heard } = this;
    const found = outsideTransaction(() => this.findOrOpen(client, userId, limit));
    const kept: Kept = {
      notification: found.then((period) => period?.notification),
      until: begun + UNHEARD_MS,
    };
    this.kept.set(key, kept);
    found.then(
      (period) => {
        // A change announced during the read may be missing from the result.
        if (!period || !this.listener.isConnected || this.heard !== heard) return;
        kept.until = begun + period.seconds * 1000;
        kept.id = period.notification.id;
        this.keyOf.set(kept.id, key);
      },
      () => this.kept.delete(key),
    );
    return kept.notification;
  }

  /** Drops the notifications with these ids from the cache, or all for `*`. */
  private forget(ids: string): void {
    this.heard++;
    if (ids === '*') return this.kept.clear();
    for (const id of ids.split(' ')) {
      const key = this.keyOf.get(id);
      if (key !== undefined) this.kept.delete(key);
    }
  }

  private async findOrOpen(
    { id: clientId, environment }: LimitedClient,
    userId: string,
    limit: number,
  ): Promise<PeriodNotification | undefined> {
    const found = await this.repository.find(clientId, userId);
    if (found) return found;
    const message =
      environment === 'sandbox'
        ? MESSAGES.rateLimitExceededInSandbox(limit)
        : MESSAGES.rateLimitExceeded(limit);
    // An erasure of the user locks the same rows in another order.
    await this.repository.open(newId('notf'), clientId, userId, message, PERIOD_SECONDS);
    return this.repository.find(clientId, userId);
  }
}
