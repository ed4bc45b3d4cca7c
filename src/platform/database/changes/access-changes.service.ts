import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { detached } from '#platform/telemetry/log-scope.js';
import { AccessChangesRepository, type Change, type ChangesRead } from './access-changes.repository.js';
import type { AccessSubject } from './access-subject.js';
import { ChangeWindow } from './change-window.js';
import { Listener } from '../connections/listener.service.js';
import { outsideTransaction } from '../queries/transaction-around.js';

/** How long a read of the changes can be trusted, in milliseconds: a change is seen within this time of its commit. */
export const TRUSTED_MS = 90;
const READ_EVERY_MS = 25;
// Without any calls for this long, the changes are no longer read.
const IDLE_MS = 2_000;
// Of these at least, in 35 to 65 bytes each, 100 MB in all at most (docs/scaling.md).
const REMEMBERED_IDS = 1_500_000;
// More than that are not read after a start or a break: it would take seconds.
const MOST_READ = 200_000;
// At a start they are read in pages: as one answer they took 90 MB for a moment, which the process keeps.
const READ_IN_PAGES_OF = 10_000;
// More than that is not replayed: the reads of the changes would wait for it.
const MOST_REPLAYED = 5_000;
// Far longer than an answer takes.
const STOOD_STILL_MS = 60_000;
// A snapshot that sees no transaction as finished: reading from it returns the whole table.
const BEGINNING = '3:3:';

/**
 * A position in the order of the database's transactions, at which something was read. `era` distinguishes databases and restores
 * (0 if unknown), because after a restore transactions are numbered anew, or others get the same numbers. All transactions below
 * `position` had ended.
 */
export interface Stamp {
  era: number;
  position: number;
}

/** A read that a later one can continue from. */
interface Reached {
  snapshot: string;
  stamp: Stamp;
}

const NOTHING_READ: Reached = { snapshot: BEGINNING, stamp: { era: 0, position: 0 } };

/** Callbacks for code that passes the changes on. */
export interface ChangeFollower {
  /** The clients and users that the changes of one read are about, and a stamp from which they can all be read again. */
  onChanges(subjects: readonly AccessSubject[], before: Stamp): void;
  /** Changes may have been missed: everything may have changed. */
  onGap(): void;
}

/**
 * Changes that affect access: clients, secrets, users, consents, grants, revoked tokens and token keys, recorded by the database
 * itself with each change (docs/decisions/0006-what-instances-keep-in-memory.md). Tells whether something read or issued before is
 * still valid, which is unknown while the changes may not be up to date.
 */
@Injectable()
export class AccessChanges {
  private readonly window = new ChangeWindow(REMEMBERED_IDS);
  private snapshot = BEGINNING;
  private knownEra = 0;
  private isSameLife = false;
  private current = NOTHING_READ.stamp;
  /**
   * The newest read that only counts transactions as ended that are on the disk. After a crash, the database reuses the numbers
   * of the others, so a new connection continues from here.
   */
  private durable = NOTHING_READ;
  /** A newer read, which is durable once the log is on the disk up to `logged`. */
  private pendingDurable: (Reached & { logged: number }) | undefined;
  /**
   * The database's clock at the end of the last read, and the monotonic clock of the process, in milliseconds. Until the first one, the
   * clock of this process stands for the database's.
   */
  private clock = { database: Date.now(), process: performance.now() };
  private provenAt = -Infinity;
  private askedAt = -Infinity;
  private proving: NodeJS.Timeout | undefined;
  private readInFlight: Promise<void> | undefined;
  private nextRead: Promise<void> | undefined;
  /** The latest replay; never rejects. */
  private replaying: Promise<unknown> = Promise.resolve();
  private readonly followers: ChangeFollower[] = [];

  constructor(
    private readonly listener: Listener,
    private readonly repository: AccessChangesRepository,
  ) {
    listener.follow({
      onConnected: () => {
        this.isSameLife = false;
        this.snapshot = this.durable.snapshot;
        // After a crash, the end of the log is written anew.
        this.pendingDurable = undefined;
        this.roundTrip().catch(() => undefined);
      },
      onLost: () => {
        this.provenAt = -Infinity;
      },
    });
  }

  /** Called during application setup. The follower keeps the reads going by asking for `isTrusted`. */
  follow(follower: ChangeFollower): void {
    this.followers.push(follower);
  }

  /**
   * The clients and users that the changes since a stamp are about; undefined if some of them are no longer stored. Rejects if
   * the database is unavailable.
   */
  async subjectsSince({ era, position }: Stamp): Promise<AccessSubject[] | undefined> {
    if (era === 0 || era !== this.current.era) return undefined;
    // One after another, so that a read of the changes, on the same connection, waits for one of them at most.
    const read = this.replaying.then(() => this.repository.readSubjectsSince(position, MOST_REPLAYED + 1));
    this.replaying = read.catch(() => undefined);
    const [found] = await read;
    const { purged, changes } = found!;
    if (era !== this.current.era || purged >= position || changes.length > MOST_REPLAYED) return undefined;
    return changes.flatMap((about) => about ?? [{}]);
  }

  /** The number of changes known: taken before a read, it tells which changes that read may have missed. */
  get position(): number {
    return this.window.position;
  }

  /** Whether `hasChanged` can be trusted: every change committed more than 90 ms ago is known. */
  get isTrusted(): boolean {
    this.askedAt = performance.now();
    // oxlint-disable-next-line no-restricted-globals -- reads the changes only while somebody relies on them
    this.proving ??= detached(() => setInterval(() => void this.prove(), READ_EVERY_MS).unref());
    return this.askedAt - this.provenAt < TRUSTED_MS;
  }

  /** Whether the changes were read within this many milliseconds. Unlike `isTrusted`, calling it does not trigger reads. */
  wasTrusted(milliseconds: number): boolean {
    return performance.now() - this.provenAt < milliseconds;
  }

  /** The stamp of the last read, for what is issued based on cached data. */
  get stamp(): Stamp {
    return this.current;
  }

  /**
   * A stamp from which readers can resume: not the newest, but no later change can have an earlier number, even if the database
   * crashes. Of era 0 until one is known.
   */
  get durableStamp(): Stamp {
    return this.durable.stamp;
  }

  /** The era of the database; 0 if unknown. */
  get era(): number {
    return this.current.era;
  }

  /**
   * The database's time in milliseconds since 1970, while `isTrusted`. Never ahead of it, and behind by less than the travel time
   * of the last response.
   */
  get databaseNow(): number {
    return this.clock.database + performance.now() - this.clock.process;
  }

  /** Whether something that a value depends on has changed since the value was read at a position. */
  hasChanged(position: number, dependsOn: readonly string[]): boolean {
    return this.window.hasChanged(position, dependsOn);
  }

  /** Whether something may have changed that a read with this stamp did not see. */
  hasChangedSince(stamp: Stamp, dependsOn: readonly string[]): boolean {
    if (stamp.era === 0 || stamp.era !== this.current.era) return true;
    return this.window.hasChangedSince(stamp.position, dependsOn);
  }

  /**
   * Waits until this instance knows everything that was committed before the call, so that callers see their own changes. A
   * silent connection delays this no longer than it is trusted.
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
    if (performance.now() - this.askedAt > IDLE_MS) {
      clearInterval(this.proving);
      this.proving = undefined;
      return;
    }
    if (!this.readInFlight) await this.roundTrip().catch(() => undefined);
  }

  /** Calls made while a round trip is in progress share the next one. */
  private roundTrip(): Promise<void> {
    if (!this.readInFlight) {
      // Shared by all that wait for it, and followers act on what it finds.
      this.readInFlight = outsideTransaction(() => this.read()).finally(() => {
        this.readInFlight = undefined;
      });
      return this.readInFlight;
    }
    this.nextRead ??= this.readInFlight
      .catch(() => undefined)
      .then(() => {
        this.nextRead = undefined;
        return this.roundTrip();
      });
    return this.nextRead;
  }

  private async read(): Promise<void> {
    const begun = performance.now();
    const asksLife = !this.isSameLife;
    try {
      const isFirst = this.snapshot === BEGINNING;
      const most = isFirst ? READ_IN_PAGES_OF : MOST_READ + 1;
      const [reading] = await this.repository.readSince(this.snapshot, most, asksLife);
      if (asksLife && !this.continues(reading!)) return await this.read();
      if (this.stoodStill(reading!)) return await this.read();
      if (isFirst) await this.readOlder(reading!.changes);
      this.take(reading!);
      this.isSameLife = true;
      this.provenAt = begun;
    } catch (error) {
      this.provenAt = -Infinity;
      throw error;
    }
  }

  /**
   * Reads what is older than the newest changes, page by page. One that was not committed when those were read is in none of the pages, or
   * in one and in the next read.
   */
  private async readOlder(newest: readonly Change[]): Promise<void> {
    let page = newest;
    for (let count = page.length; page.length === READ_IN_PAGES_OF; count += page.length) {
      const oldest = page.at(-1)!;
      if (count >= MOST_READ) return this.window.leaveOut(oldest[0]);
      const [older] = await this.repository.readBefore(oldest, READ_IN_PAGES_OF);
      page = older!.changes;
      for (const [xid, ids] of page) this.window.add(xid, ids);
    }
  }

  /**
   * Whether the connection leads to the same database as before, and nothing was purged before it was read, as after hours without
   * a connection; if not, everything is read from the beginning.
   */
  private continues({ life, isPurged }: ChangesRead): boolean {
    const era = createHash('sha256').update(life!).digest().readUInt32BE() || 1;
    const isComplete = !isPurged || this.snapshot === BEGINNING;
    if (era === this.knownEra && isComplete) return true;
    this.knownEra = era;
    this.startAgain();
    return false;
  }

  /**
   * Whether the database's clock went on for more than a minute while this process stood still, as on a machine that slept: what was
   * read for some seconds would be kept for longer, so everything is read from the beginning.
   */
  private stoodStill({ now }: ChangesRead): boolean {
    if (this.snapshot === BEGINNING || now - this.databaseNow < STOOD_STILL_MS) return false;
    this.startAgain();
    return true;
  }

  private startAgain(): void {
    this.current = NOTHING_READ.stamp;
    this.snapshot = BEGINNING;
    this.durable = NOTHING_READ;
    this.window.reset();
    for (const follower of this.followers) follower.onGap();
  }

  private take(reading: ChangesRead): void {
    const { snapshot, position, now, changes } = reading;
    const before = this.durable.stamp;
    const isComplete = this.snapshot !== BEGINNING && changes.length <= MOST_READ;
    if (changes.length > MOST_READ) this.window.leaveOut(changes.at(-1)![0]);
    for (const [xid, ids] of changes.reverse()) this.window.add(xid, ids);
    this.snapshot = snapshot;
    this.current = { era: this.knownEra, position };
    this.clock = { database: now, process: performance.now() };
    this.noteDurable({ snapshot, stamp: this.current }, reading);
    if (changes.length === 0) return;
    for (const follower of this.followers) {
      if (!isComplete) follower.onGap();
      else
        follower.onChanges(
          changes.flatMap(([, , about]) => about ?? [{}]),
          before,
        );
    }
  }

  private noteDurable(read: Reached, { logged, flushed }: ChangesRead): void {
    if (this.pendingDurable && this.pendingDurable.logged <= flushed) {
      this.durable = this.pendingDurable;
      this.pendingDurable = undefined;
    }
    if (logged <= flushed) this.durable = read;
    else this.pendingDurable ??= { ...read, logged };
  }
}
