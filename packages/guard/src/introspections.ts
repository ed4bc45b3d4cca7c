import { hash } from 'node:crypto';
import { ChangeFeed } from './change-feed.js';
import { RecentChanges, type Change, type Subjects } from './changes.js';
import { CircuitBreaker } from './circuit-breaker.js';
import { Introspector, type Access, type Introspection } from './introspection.js';
import { Memory } from './memory.js';
import type { GuardSettings } from './options.js';
import { unavailable } from './refusal.js';
import { Sleep } from './sleep.js';

/**
 * An instance of the service may answer as of 100 ms ago, and tell of a change sooner than that. So an answer that was asked for
 * this shortly after a change may not know it yet.
 */
const SETTLING_MS = 200;
// Nobody waits for an answer that was asked for longer ago.
const JOINED_MS = 1_000;
// Tokens that are not valid may be anybody's inventions, and must not crowd out the others.
const REFUSED_SHARE = 10;

/** A remembered answer; times are of the monotonic clock, in milliseconds. */
interface Remembered {
  access: Access | undefined;
  askedAt: number;
  endsAt: number;
  /** Every change that concerns it drops it. */
  isTracked: boolean;
}

interface UnderWay {
  begunAt: number;
  answer: Promise<Access | undefined>;
}

/** How often was what done, since the start. */
export interface GuardStatistics {
  asked: number;
  fromMemory: number;
  joined: number;
  remembered: number;
  isFollowingChanges: boolean;
}

/**
 * What tokens may do, asked or remembered. Remembered is for a second; while the changes are followed, an answer that allows
 * something is remembered until its `exp` or a change concerns it.
 */
export class Introspections {
  private readonly introspector: Introspector;
  private readonly breaker = new CircuitBreaker();
  private readonly feed: ChangeFeed;
  private readonly allowed: Memory<Remembered>;
  private readonly refused: Memory<Remembered>;
  private readonly recent: RecentChanges;
  private readonly underWay = new Map<string, UnderWay>();
  private readonly sleep = new Sleep();
  private waiting = 0;
  private isStarted = false;
  private readonly counts = { asked: 0, fromMemory: 0, joined: 0 };

  constructor(private readonly settings: GuardSettings) {
    this.introspector = new Introspector(settings);
    this.feed = new ChangeFeed(settings, { onChange: (change) => this.forget(change) });
    this.allowed = new Memory(settings.maxRemembered);
    this.refused = new Memory(Math.ceil(settings.maxRemembered / REFUSED_SHARE));
    this.recent = new RecentChanges(settings.timeoutMs + SETTLING_MS + JOINED_MS);
  }

  /** Begins to follow the changes; the first question does it too. */
  start(): void {
    if (this.isStarted) return;
    this.isStarted = true;
    if (this.settings.followChanges) this.feed.start();
  }

  close(): void {
    this.isStarted = true;
    this.feed.close();
    this.introspector.close();
    this.forget({});
  }

  get statistics(): GuardStatistics {
    const remembered = this.allowed.size + this.refused.size;
    return { ...this.counts, remembered, isFollowingChanges: this.feed.isLive };
  }

  /** What the token may do now; undefined if it is not valid. Throws a 503 refusal if that cannot be known. */
  async of(token: string, userId: string | undefined): Promise<Access | undefined> {
    this.start();
    // Tokens have ended meanwhile, and changes were missed, by a clock that stood still.
    if (this.sleep.wasJustNow()) this.forget({});
    const now = performance.now();
    const key = `${hash('sha256', token, 'base64')} ${userId ?? ''}`;
    const found = this.allowed.get(key) ?? this.refused.get(key);
    if (found && this.isFresh(found, now)) {
      this.counts.fromMemory++;
      return found.access;
    }
    const underWay = this.underWay.get(key);
    if (underWay && now - underWay.begunAt < JOINED_MS && !this.isOvertaken(underWay.begunAt, now)) {
      this.counts.joined++;
      return underWay.answer;
    }
    const asked: UnderWay = { begunAt: now, answer: this.ask(key, token, userId) };
    this.underWay.set(key, asked);
    try {
      return await asked.answer;
    } finally {
      if (this.underWay.get(key) === asked) this.underWay.delete(key);
    }
  }

  /** Whether the answer to a question of now may know of a change that the answer to an earlier one does not. */
  private isOvertaken(askedAt: number, now: number): boolean {
    return (
      this.recent.hasAnySince(askedAt) || this.recent.hasAnySince(askedAt - SETTLING_MS, now - SETTLING_MS)
    );
  }

  private isFresh({ askedAt, endsAt, isTracked }: Remembered, now: number): boolean {
    if (now >= endsAt) return false;
    return now - askedAt < this.settings.rememberMs || (isTracked && this.feed.isLive);
  }

  private async ask(key: string, token: string, userId: string | undefined): Promise<Access | undefined> {
    if (this.waiting >= this.settings.maxWaiting) throw unavailable(1);
    if (!this.breaker.admit()) throw unavailable(this.breaker.retryAfter);
    const askedAt = performance.now();
    const connection = this.feed.isLive ? this.feed.connection : undefined;
    this.waiting++;
    this.counts.asked++;
    try {
      const answer = await this.introspector.ask(token, userId);
      if (this.breaker.succeeded()) this.settings.warn('Introspection works again.');
      this.remember(key, userId, answer, askedAt, connection);
      return answer.access;
    } catch (error) {
      if (this.breaker.failed()) this.settings.warn((error as Error).message);
      throw unavailable(this.breaker.retryAfter);
    } finally {
      this.waiting--;
    }
  }

  /** Unless a change that arrived in the meantime concerns the answer. */
  private remember(
    key: string,
    userId: string | undefined,
    { access, lifetimeMs }: Introspection,
    askedAt: number,
    connection: number | undefined,
  ): void {
    this.allowed.delete(key);
    this.refused.delete(key);
    if (!access) {
      const nobody = { clientId: '', userIds: [] };
      this.refused.set(key, { access, askedAt, endsAt: Infinity, isTracked: false }, nobody);
      return;
    }
    const subjects = subjectsOf(access, userId);
    if (this.recent.concern(subjects, askedAt - SETTLING_MS)) return;
    const isTracked =
      // Of what a token may do later, the changes say nothing.
      access.scopes.length > 0 && this.feed.isLive && this.feed.connection === connection;
    this.allowed.set(key, { access, askedAt, endsAt: askedAt + lifetimeMs, isTracked }, subjects);
  }

  private forget(change: Change): void {
    this.recent.add(change, performance.now());
    this.allowed.forget(change);
  }
}

const subjectsOf = (access: Access, userId: string | undefined): Subjects => ({
  clientId: access.clientId,
  userIds: [...new Set([access.userId, userId])].filter((id) => id !== undefined),
});
