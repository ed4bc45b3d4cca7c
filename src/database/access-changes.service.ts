import { Injectable } from '@nestjs/common';
import { Listener } from './listener.service.js';

const CHANNEL = 'access_changes';
/** For how long the listening connection counts as alive after a round trip was begun: a change is seen within this time. */
const TRUSTED_MS = 90;
const PROVE_EVERY_MS = 25;
// Without a question for this long, nothing is proved any more.
const IDLE_MS = 2_000;
// Beyond this many different ids, everything counts as changed.
const REMEMBERED_CHANGES = 20_000;

/**
 * What has changed of access: clients, secrets, users, consents, grants and revoked tokens, announced by the database
 * itself at commit (migrations/1763670000000-access-changes.ts). Tells whether what was read before can still be relied
 * on; it cannot while the listening connection is not known to be alive.
 */
@Injectable()
export class AccessChanges {
  private heard = 0;
  private readonly changedAt = new Map<string, number>();
  private allChangedAt = 0;
  private provenAt = -Infinity;
  private askedAt = -Infinity;
  private proving: NodeJS.Timeout | undefined;
  private trip: Promise<void> | undefined;
  private nextTrip: Promise<void> | undefined;

  constructor(private readonly listener: Listener) {
    listener.listen(CHANNEL, {
      onConnected: () => this.changeAll(),
      onLost: () => {
        this.provenAt = -Infinity;
        this.changeAll();
      },
      onAnnouncement: (payload) => this.hear(payload),
    });
  }

  /** How many changes were heard of: taken before a reading, it says which changes the reading may have missed. */
  get position(): number {
    return this.heard;
  }

  /** Whether what `hasChanged` says holds: nothing that was committed more than 90 ms ago went by unheard. */
  get isTrusted(): boolean {
    this.askedAt = performance.now();
    this.proving ??= setInterval(() => void this.prove(), PROVE_EVERY_MS).unref();
    return this.askedAt - this.provenAt < TRUSTED_MS;
  }

  /** Whether something that a value rests on changed after it was read at a position. */
  hasChanged(position: number, restsOn: readonly string[]): boolean {
    if (this.allChangedAt > position) return true;
    return restsOn.some((id) => (this.changedAt.get(id) ?? 0) > position);
  }

  /**
   * Waits until this instance has heard of whatever was committed before the call, so that who changed something sees it
   * changed. A connection that is silent holds nobody up for longer than it is trusted.
   */
  async catchUp(): Promise<void> {
    if (!this.listener.isConnected) return;
    let silence: NodeJS.Timeout | undefined;
    await Promise.race([
      this.roundTrip().catch(() => undefined),
      new Promise((resolve) => (silence = setTimeout(resolve, TRUSTED_MS))),
    ]);
    clearTimeout(silence);
  }

  private async prove(): Promise<void> {
    const begun = performance.now();
    if (begun - this.askedAt > IDLE_MS) {
      clearInterval(this.proving);
      this.proving = undefined;
      return;
    }
    if (this.trip) return;
    try {
      await this.roundTrip();
      this.provenAt = begun;
    } catch {
      this.provenAt = -Infinity;
    }
  }

  /** Those who ask while a round trip is under way share the next one. */
  private roundTrip(): Promise<void> {
    if (!this.trip) {
      this.trip = this.listener.roundTrip().finally(() => {
        this.trip = undefined;
      });
      return this.trip;
    }
    this.nextTrip ??= this.trip
      .catch(() => undefined)
      .then(() => {
        this.nextTrip = undefined;
        return this.roundTrip();
      });
    return this.nextTrip;
  }

  private hear(payload: string): void {
    if (payload === '*') return this.changeAll();
    const at = ++this.heard;
    for (const id of payload.split(' ')) this.changedAt.set(id, at);
    if (this.changedAt.size > REMEMBERED_CHANGES) this.changeAll();
  }

  private changeAll(): void {
    this.allChangedAt = ++this.heard;
    this.changedAt.clear();
  }
}
