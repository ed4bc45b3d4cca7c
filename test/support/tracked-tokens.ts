import { setTimeout as pause } from 'node:timers/promises';

// Contract §4: the time from the commit until every instance refuses the token.
const BOUND_MS = 100;
const CHECKERS = 4;
const BETWEEN_LOOKS_MS = 10;

/** A token, and how far its end has progressed. */
export interface Tracked {
  token: string;
  clientId: string;
  /** Undefined for a token in the client's own name. */
  userId?: string;
  state: 'live' | 'ending' | 'ended long enough ago';
}

/** An instance, reduced to judging tokens. */
export interface Judge {
  accepts(token: string): Promise<boolean>;
  /** Why it refuses the token. */
  reason(token: string): Promise<string>;
}

/**
 * Tokens that are used at several instances again and again while tokens are issued and ended. Each use is judged by the order of
 * events: a use that began 100 ms or more after the commit of the end must be refused, and a use that was over before the end
 * began must be accepted.
 */
export class TrackedTokens {
  /** The wrong judgements. */
  private readonly wrong = new Set<string>();
  looks = 0;
  private readonly tokens: Tracked[] = [];
  /** Each promise resolves when every instance must know about an end. */
  private readonly due: Promise<void>[] = [];
  private running = true;
  private readonly checkers: Promise<void>[];

  /** `judges` may grow later, when another instance is started. */
  constructor(private readonly judges: Judge[]) {
    this.checkers = Array.from({ length: CHECKERS }, (_, n) => this.check(n));
  }

  get count(): number {
    return this.tokens.length;
  }

  /** The tokens that nothing has ended yet. */
  get live(): Tracked[] {
    return this.tokens.filter(({ state }) => state === 'live');
  }

  add(token: string, clientId: string, userId?: string): Tracked {
    const tracked: Tracked = { token, clientId, userId, state: 'live' };
    this.tokens.push(tracked);
    return tracked;
  }

  /** Ends tokens; resolves when the end is committed. */
  async end(which: (each: Tracked) => boolean, work: () => Promise<unknown>): Promise<void> {
    const ended = this.live.filter(which);
    for (const each of ended) each.state = 'ending';
    await work();
    const whenDue = pause(BOUND_MS).then(() => {
      for (const each of ended) each.state = 'ended long enough ago';
    });
    this.due.push(whenDue);
  }

  /**
   * Checks the newest tokens at every instance, once every instance must know every end: a complete check after the random ones.
   */
  async expectAllRight(newest = 60): Promise<void> {
    await Promise.all(this.due);
    for (const judge of this.judges)
      for (const each of this.tokens.slice(-newest)) await this.look(each, judge);
    expect([...this.wrong]).toEqual([]);
  }

  /** Waits for the uses under way to finish. */
  async stop(): Promise<void> {
    this.running = false;
    await Promise.all(this.checkers);
  }

  private async check(n: number): Promise<void> {
    for (let at = n; this.running; at++) {
      // Each token is used at every instance, while tokens come and go.
      const turn = Math.floor(at / this.judges.length);
      const each = this.tokens[(turn * 7919) % Math.max(1, this.tokens.length)];
      if (each) await this.look(each, this.judges[at % this.judges.length]!);
      // Gives the others a turn; uses without a pause would take the whole processor from the instances.
      await pause(BETWEEN_LOOKS_MS);
    }
  }

  private async look(each: Tracked, judge: Judge): Promise<void> {
    const before = each.state;
    const isAccepted = await judge.accepts(each.token);
    this.looks++;
    const place = `instance ${this.judges.indexOf(judge)}`;
    if (isAccepted && before === 'ended long enough ago')
      this.wrong.add(`${place} takes a token that has ended`);
    // The state now, after the use.
    if (!isAccepted && each.state === 'live') {
      const whose = each.userId ?? 'its client';
      this.wrong.add(`${place} refuses a live token of ${whose}: ${await judge.reason(each.token)}`);
    }
  }
}

/**
 * Until then an instance may still issue a token as of before a change that it does not know yet, and that token ends with the
 * change.
 */
export const heardEverywhere = (): Promise<void> => pause(BOUND_MS);
