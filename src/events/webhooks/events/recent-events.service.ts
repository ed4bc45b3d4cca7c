import { Injectable } from '@nestjs/common';
import { DAY_MS } from '#platform/config/durations.js';
import type { EventContent } from './event.js';
import { EventsRepository } from './events.repository.js';

/** Recent events, for pages that show the state of their subject. */
@Injectable()
export class RecentEventsService {
  constructor(private readonly events: EventsRepository) {}

  /** The events of these types about a user in the last day, the newest first. */
  async about(userId: string, types: readonly string[], limit: number): Promise<EventContent[]> {
    const found = await this.events.newestAbout(userId, types, new Date(Date.now() - DAY_MS), limit);
    return found
      .filter(({ payload }) => payload !== null)
      .map(({ payload }) => {
        const { type, timestamp, data } = JSON.parse(payload!) as EventContent;
        return { type, timestamp, userId, data };
      });
  }
}
