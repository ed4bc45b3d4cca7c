import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Settings } from '../config/settings.js';
import { MESSAGES } from '../notifications/message-catalogue.js';
import { notificationView, type NotificationView } from '../notifications/notification.view.js';
import { newId } from '../secrets/ids.js';
import { RateLimitNoticesRepository } from './rate-limit-notices.repository.js';

// Contract §7: the first refusal opens a period of one hour.
const PERIOD_SECONDS = 3600;
// A flood of refusals reads the notification this often, and writes nothing.
const REMEMBERED_MS = 5_000;
const REMEMBERED_PAIRS = 10_000;

/** The notification that a refusal shows: raised by the first of a period, found again by the later ones. */
@Injectable()
export class RateLimitNoticesService {
  private readonly remembered = new LRUCache<string, Promise<NotificationView | undefined>>({
    max: REMEMBERED_PAIRS,
    ttl: REMEMBERED_MS,
  });

  constructor(
    private readonly repository: RateLimitNoticesRepository,
    private readonly settings: Settings,
  ) {}

  /** The notification of the pair's open period; refusals that come at once share one look at the database. */
  noticeFor(clientId: string, userId: string, limit: number): Promise<NotificationView | undefined> {
    const key = `${clientId} ${userId}`;
    const known = this.remembered.get(key);
    if (known) return known;
    const notice = this.findOrOpen(clientId, userId, limit);
    this.remembered.set(key, notice);
    notice.catch(() => this.remembered.delete(key));
    return notice;
  }

  private async findOrOpen(
    clientId: string,
    userId: string,
    limit: number,
  ): Promise<NotificationView | undefined> {
    let found = await this.repository.find(clientId, userId);
    if (!found) {
      await this.repository.open(
        newId('notf'),
        clientId,
        userId,
        MESSAGES.rateLimitExceeded(limit),
        PERIOD_SECONDS,
      );
      found = await this.repository.find(clientId, userId);
    }
    return found ? notificationView(found, this.settings.baseUrl) : undefined;
  }
}
