import { Injectable } from '@nestjs/common';
import { hkdfSync } from 'node:crypto';
import { Settings } from '../../config/settings.js';
import { seal, unseal } from '../../secrets/seal.js';

const DAY_MS = 86_400_000;

/** A place in the order of all events: those of earlier transactions, and of this one up to the id, are behind it. */
export interface FeedPosition {
  /** The number of a transaction. */
  xid: string;
  eventId: string;
}

/** Before the first event. */
export const BEGINNING: FeedPosition = { xid: '0', eventId: '' };

/**
 * Positions in links, sealed: a position names the last event that was passed, which may be another client's. It is bound to the
 * client, and ends when the events after it may be gone.
 */
@Injectable()
export class FeedPositions {
  private readonly keys: Buffer[];

  constructor(private readonly settings: Settings) {
    this.keys = settings.encryptionKeys.map((key) =>
      Buffer.from(hkdfSync('sha256', key, '', 'position in the feed of events', 32)),
    );
  }

  seal(clientId: string, { xid, eventId }: FeedPosition): string {
    return seal(this.keys[0]!, `${Date.now()} ${xid} ${eventId}`, clientId).toString('base64url');
  }

  /** Undefined for what was not sealed for this client, or too long ago. */
  open(clientId: string, text: string): FeedPosition | undefined {
    const sealed = Buffer.from(text, 'base64url');
    for (const key of this.keys) {
      const [at, xid, eventId] = unseal(key, sealed, clientId)?.split(' ') ?? [];
      if (at === undefined) continue;
      const isKept = Date.now() - Number(at) < this.settings.retentionDays * DAY_MS;
      return isKept ? { xid: xid!, eventId: eventId! } : undefined;
    }
    return undefined;
  }
}
