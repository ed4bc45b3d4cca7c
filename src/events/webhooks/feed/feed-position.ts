import { Injectable } from '@nestjs/common';
import { DAY_MS } from '#platform/config/durations.js';
import { Settings } from '#platform/config/settings.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';

/** A position in the order of all events: after those of earlier transactions, and of this one up to the id. */
export interface FeedPosition {
  /** The number of a transaction. */
  xid: string;
  eventId: string;
}

/** Before the first event. */
export const BEGINNING: FeedPosition = { xid: '0', eventId: '' };

/**
 * Positions in links, sealed: a position names the last event before it, which may be another client's. It is bound to the
 * client, and expires when the events after it may be gone, by the database's clock, which is that of the purge.
 */
@Injectable()
export class FeedPositions {
  private readonly box: SealedBox;

  constructor(
    private readonly settings: Settings,
    private readonly changes: AccessChanges,
  ) {
    this.box = new SealedBox('position in the feed of events', settings.encryptionKeys);
  }

  seal(clientId: string, { xid, eventId }: FeedPosition): string {
    const at = Math.floor(this.changes.databaseNow);
    return this.box.seal(`${at} ${xid} ${eventId}`, clientId).toString('base64url');
  }

  /** Undefined if it was not sealed for this client, or too long ago. */
  open(clientId: string, text: string): FeedPosition | undefined {
    const [at, xid, eventId] = this.box.open(Buffer.from(text, 'base64url'), clientId)?.split(' ') ?? [];
    const isKept = this.changes.databaseNow - Number(at) < this.settings.retentionDays * DAY_MS;
    return isKept ? { xid: xid!, eventId: eventId! } : undefined;
  }
}
