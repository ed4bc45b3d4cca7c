import { Injectable } from '@nestjs/common';
import { DisclosedReadsService } from '#events/disclosures/disclosed-reads.service.js';
import { EventFeedRepository, type FeedReader, type JudgedEvent } from '../feed/event-feed.repository.js';
import type { Condition } from './condition.js';
import { pathOf } from './condition-path.js';

const NEWEST = 100;

/** What conditions would have done with the client's newest events. */
export interface FilterPreview {
  events: Pick<JudgedEvent, 'id' | 'type' | 'createdAt' | 'holds'>[];
  /** How many of them pass. */
  sent: number;
}

/** Tries conditions before they are saved. */
@Injectable()
export class FilterPreviews {
  constructor(
    private readonly feed: EventFeedRepository,
    private readonly reads: DisclosedReadsService,
  ) {}

  /** Up to 100 of the newest events of these types that the client may see. What they say about users counts as read. */
  async of(
    reader: FeedReader,
    types: readonly string[],
    conditions: readonly Condition[],
  ): Promise<FilterPreview> {
    const events = await this.feed.judgeNewest(reader, types, conditions.map(pathOf), NEWEST);
    const read = new Map(events.map((event) => [`${event.userId} ${event.scope}`, event]));
    for (const { userId, scope } of read.values()) {
      if (userId !== null && scope !== null) this.reads.note({ clientId: reader.clientId, userId, scope });
    }
    return { events, sent: events.filter(({ holds }) => holds.every(Boolean)).length };
  }
}
