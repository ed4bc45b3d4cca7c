import { setTimeout as pause } from 'node:timers/promises';

// Contract §4: from its commit until every instance refuses.
const BOUND_MS = 100;
const CHECKERS = 4;

/** A token, and how far its end has come. */
export interface Tracked {
  token: string;
  clientId: string;
  /** Absent for a token in the client's own name. */
  userId?: string;
  state: 'live' | 'ending' | 'ended long enough ago';
}

/** An instance, as far as it judges tokens. */
export interface Judge {
  accepts(token: string): Promise<boolean>;
  /** Why it refuses. */
  reason(token: string): Promise<string>;
}

/**
 * Tokens that are used at several instances, again and again, while they are issued and ended. Each look is judged by the order of
 * events: one that was begun after a pause of 100 ms that followed the commit of the end must refuse, one that was over before
 * the end began must not.
 */
export class TrackedTokens {
  /** What was judged wrongly. */
  private readonly wrong = new Set<string>();
  looks = 0;
  private readonly tokens: Tracked[] = [];
  /** Each is over when it must be known everywhere that something ended. */
  private readonly due: Promise<void>[] = [];
  private running = true;
  private readonly checkers: Promise<void>[];

  /** `judges` may grow later: an instance that is started in the middle. */
  constructor(private readonly judges: Judge[]) {
    this.checkers = Array.from({ length: CHECKERS }, (_, n) => this.check(n));
  }

  get count(): number {
    return this.tokens.length;
  }

  /** Those that nothing has ended yet. */
  get live(): Tracked[] {
    return this.tokens.filter(({ state }) => state === 'live');
  }

  add(token: string, clientId: string, userId?: string): Tracked {
    const tracked: Tracked = { token, clientId, userId, state: 'live' };
    this.tokens.push(tracked);
    return tracked;
  }

  /** Ends tokens; back when it is committed. */
  async end(which: (each: Tracked) => boolean, work: () => Promise<unknown>): Promise<void> {
    const ended = this.live.filter(which);
    for (const each of ended) each.state = 'ending';
    await work();
    const whenDue = pause(BOUND_MS).then(() => {
      for (const each of ended) each.state = 'ended long enough ago';
    });
    this.due.push(whenDue);
  }

  /** The newest tokens, at every instance, once every end must be known: what was checked at random is checked once more in full. */
  async expectAllRight(newest = 60): Promise<void> {
    await Promise.all(this.due);
    for (const judge of this.judges)
      for (const each of this.tokens.slice(-newest)) await this.look(each, judge);
    expect([...this.wrong]).toEqual([]);
  }

  /** Lets what is under way end. */
  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.checkers);
  }

  private async check(n: number): Promise<void> {
    for (let at = n; this.running; at++) {
      // Each token at every instance, whichever tokens come and go.
      const turn = Math.floor(at / this.judges.length);
      const each = this.tokens[(turn * 7919) % Math.max(1, this.tokens.length)];
      if (each) await this.look(each, this.judges[at % this.judges.length]!);
      // The others have their turn.
      await pause(1);
    }
  }

  private async look(each: Tracked, judge: Judge): Promise<void> {
    const before = each.state;
    const isAccepted = await judge.accepts(each.token);
    this.looks++;
    const place = `instance ${this.judges.indexOf(judge)}`;
    if (isAccepted && before === 'ended long enough ago')
      this.wrong.add(`${place} takes a token that has ended`);
    // As it is now, when the look is over.
    if (!isAccepted && each.state === 'live') {
      const whose = each.userId ?? 'its client';
      this.wrong.add(`${place} refuses a live token of ${whose}: ${await judge.reason(each.token)}`);
    }
  }
}

/** Until then an instance may issue a token as of before a change that it has not heard of: one that ended with it. */
export const heardEverywhere = (): Promise<void> => pause(BOUND_MS);
