import { Injectable, Logger } from '@nestjs/common';
import { Listener } from '#platform/database/connections/listener.service.js';
import { validationFailed } from '#platform/http/problems/problem.js';
import { isId } from '#platform/secrets/ids.js';
import { EventFeedRepository, SCANNED_AT_ONCE, type FeedReader } from './event-feed.repository.js';
import { BEGINNING, FeedPositions, type FeedPosition } from './feed-position.js';
import { violation } from '#platform/http/problems/violation.js';

/** The word for "no events until now". */
const LATEST = 'latest';

/** What one request looks at: sparse clients continue with the next link. */
const LOOKS = 20;

/** Part of the feed: the bodies of the events, and where to continue. */
export interface FeedPart {
  bodies: string[];
  /** The users and scopes whose data they contain, each once. */
  read: { userId: string; scope: string }[];
  end: FeedPosition;
  /** Nothing came after it. */
  isAll: boolean;
}

/** The client's events in the order of their commits (contract §21). */
@Injectable()
export class EventFeed {
  private readonly logger = new Logger(EventFeed.name);

  constructor(
    private readonly repository: EventFeedRepository,
    private readonly positions: FeedPositions,
    listener: Listener,
  ) {
    // A restore ends every connection.
    listener.follow({ onConnected: () => void this.adoptRestored() });
  }

  /** The position that `after` names. Throws a 400 problem if it is no longer kept. */
  async begin(clientId: string, after: string | undefined): Promise<FeedPosition> {
    if (after === undefined) return BEGINNING;
    if (after === LATEST) return (await this.repository.newest()) ?? BEGINNING;
    const position = isId('evnt', after)
      ? await this.repository.positionOf(after)
      : this.positions.open(clientId, after);
    return position ?? lost('not_kept');
  }

  /** Up to `limit` events after a position. Even if it has none, more may follow after its end. */
  async read(reader: FeedReader, after: FeedPosition, limit: number): Promise<FeedPart> {
    const bodies: string[] = [];
    const read = new Map<string, FeedPart['read'][number]>();
    const partUpTo = (end: FeedPosition, isAll: boolean): FeedPart => ({
      bodies,
      read: [...read.values()],
      end,
      isAll,
    });
    let end = after;
    for (let looked = 0; looked < LOOKS; looked++) {
      const { events, scanned, last, isAhead } = await this.repository.look(
        reader,
        end,
        limit - bodies.length,
      );
      if (isAhead) lost('feed_restored');
      for (const { payload, userId, scope } of events) {
        bodies.push(payload);
        // Events for the client alone have no scope.
        if (userId !== null && scope !== null) read.set(`${userId} ${scope}`, { userId, scope });
      }
      if (bodies.length >= limit) {
        const { xid, eventId } = events.at(-1)!;
        return partUpTo({ xid, eventId }, false);
      }
      end = last ?? end;
      if (scanned < SCANNED_AT_ONCE) return partUpTo(end, true);
    }
    return partUpTo(end, false);
  }

  private async adoptRestored(): Promise<void> {
    try {
      await this.repository.adoptRestored();
    } catch (error) {
      this.logger.debug(`Restored events could not be looked for: ${(error as Error).message}`);
    }
  }
}

function lost(code: 'not_kept' | 'feed_restored'): never {
  throw validationFailed({ after: [violation(code)] });
}
