import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActivityService } from '#records/activity/activity.service.js';
import { rateLimitExceeded, type Problem } from '#platform/http/problems/problem.js';
import { accountDigest, KnownBrowsersService } from '#access/users/sessions/known-browsers.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { addressKey } from '#platform/http/server/address-key.js';
import { countDecision } from '../rate-limit-metrics.js';
import { type RateLimitDecision, type RateLimitStore, RATE_LIMIT_STORE } from '../store/rate-limit-store.js';
import { retryAfterSeconds } from '../rate-limits.service.js';
import { said, say } from '#platform/language/text.js';
import { waitingTime, waitingValues } from '../waiting-time.js';

// Contract §3: the 6th failure in 15 minutes for one account, the 51st from one address.
const WINDOW_MS = 15 * 60_000;
const ACCOUNT_FAILURES = 6;
const ADDRESS_FAILURES = 51;

/** An admitted attempt, until its result is known. */
export interface SignInAttempt {
  email: string;
  /** The browser has logged in to the account before, with its current password. */
  isKnownBrowser: boolean;
  /** The counters that this attempt filled up: a wrong password then already gets a refusal. */
  filled: [key: string, limit: number][];
  /** The counters that this attempt was counted in. */
  counted: string[];
  /** The counters that a correct password clears. */
  failureKeys: string[];
  /** Undefined for a known browser. */
  addressKey: string | undefined;
  /** Set as soon as the input is known to be wrong, before that is recorded. */
  isWrong: boolean;
  /** Releases the attempts that wait for the result of this one. */
  end: () => void;
}

/** A running attempt that others wait for, with the counters it was counted in. */
interface Turn {
  keys: Set<string>;
  ended: Promise<void>;
  end: () => void;
}

/**
 * Slows down password guessing (contract §3). An attempt is counted before the password is checked, so that concurrent attempts
 * count too, and the count is taken back if the password was right. Attempts that find the counter full of unfinished attempts
 * wait for those. A browser that has logged in with the account's current password is counted separately, so that strangers
 * cannot lock it out.
 */
@Injectable()
export class SignInLimitsService {
  private readonly underWay = new Map<string, Set<Promise<void>>>();

  constructor(
    @Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore,
    private readonly browsers: KnownBrowsersService,
    private readonly activity: ActivityService,
  ) {}

  /**
   * Counts an attempt; throws a 429 problem after too many failures. Unknown emails count like any other. Every admitted attempt
   * must be settled.
   */
  async admit(request: FastifyRequest, email: string): Promise<SignInAttempt> {
    const turn = this.newTurn();
    try {
      return await this.admitIn(turn, request, email);
    } catch (error) {
      turn.end();
      throw error;
    }
  }

  private async admitIn(turn: Turn, request: FastifyRequest, email: string): Promise<SignInAttempt> {
    const account = `signin-account:${accountDigest(email)}`;
    const browser = this.browsers.marked(request, email);
    if (browser === undefined) return this.admitStranger(turn, request, email, [account], []);
    // Checked before the password is looked up, so that a browser over its limit is refused without a query.
    const own = `${account}:${browser.id}`;
    const filled = await this.reserve(own, ACCOUNT_FAILURES, request, turn);
    const failureKeys: [string, string] = [account, own];
    try {
      if (!(await this.browsers.isCurrent(browser, email)))
        return await this.admitStranger(turn, request, email, failureKeys, filled);
    } catch (error) {
      // Refused as a stranger, or the database is unavailable: no password was compared.
      await this.store.giveBack(own, WINDOW_MS);
      throw error;
    }
    // Strangers at the same address must not lock out a known browser either.
    return this.begin(turn, {
      email,
      isKnownBrowser: true,
      counted: [own],
      filled,
      failureKeys,
      addressKey: undefined,
    });
  }

  private async admitStranger(
    turn: Turn,
    request: FastifyRequest,
    email: string,
    failureKeys: [account: string, ...own: string[]],
    filledBefore: [string, number][],
  ): Promise<SignInAttempt> {
    const networkKey = `signin-${addressKey(request.ip)}`;
    const filled = [...filledBefore, ...(await this.reserve(networkKey, ADDRESS_FAILURES, request, turn))];
    try {
      filled.push(...(await this.reserve(failureKeys[0], ACCOUNT_FAILURES, request, turn)));
    } catch (error) {
      await this.store.giveBack(networkKey, WINDOW_MS);
      throw error;
    }
    const counted = [networkKey, ...failureKeys];
    return this.begin(turn, {
      email,
      isKnownBrowser: false,
      counted,
      filled,
      failureKeys,
      addressKey: networkKey,
    });
  }

  /**
   * Runs the comparison of an attempt, which has to be settled afterwards. If it throws, the attempt is settled here: it only
   * counts if the input is already known to be wrong, even if that could not be recorded.
   */
  async compare<T>(attempt: SignInAttempt, comparison: () => Promise<T>): Promise<T> {
    try {
      return await comparison();
    } catch (error) {
      if (attempt.isWrong) await this.settleWrong(attempt);
      else await this.settleUnfinished(attempt);
      throw error;
    }
  }

  /**
   * Settles an attempt with the account as read with its password, or undefined. Throws a 429 problem if the failure exceeds the
   * limit. On success the account's count is cleared, the address's count is taken back, and the browser is known from now on.
   */
  async settle(
    attempt: SignInAttempt,
    user: UserEntity | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    if (!user) return this.settleWrong(attempt);
    try {
      const { failureKeys, addressKey: networkKey } = attempt;
      await Promise.all([
        ...failureKeys.map((key) => this.store.clear(key)),
        ...(networkKey === undefined ? [] : [this.store.giveBack(networkKey, WINDOW_MS)]),
      ]);
      this.browsers.remember(request, reply, user);
    } finally {
      attempt.end();
    }
  }

  /**
   * Settles an attempt whose password was right, but which has not logged in yet: the second factor is asked for, or something
   * failed. It does not count as a failure, but does not clear the count either, so that knowing the password does not allow
   * unlimited code guesses.
   */
  async settleUnfinished({ counted, end }: SignInAttempt): Promise<void> {
    try {
      await Promise.all(counted.map((key) => this.store.giveBack(key, WINDOW_MS)));
    } finally {
      end();
    }
  }

  /**
   * Counts a sign-in through a provider or by a passkey that was refused; throws a 429 problem from the 51st of an address in 15
   * minutes. Nothing can be guessed there, so the count only refuses failures, never valid logins.
   */
  async countRefused(request: FastifyRequest): Promise<void> {
    await this.reserve(`signin-refused-${addressKey(request.ip)}`, ADDRESS_FAILURES - 1, request);
  }

  /** Counts an attempt, which others wait for as soon as it is counted; returns the counter if this attempt filled it up. */
  private async reserve(
    key: string,
    limit: number,
    { ip: address }: FastifyRequest,
    turn?: Turn,
  ): Promise<[string, number][]> {
    for (;;) {
      const hadOthers = this.underWay.has(key);
      const decision = await this.store.consume(key, limit, WINDOW_MS);
      countDecision(key.slice(0, key.indexOf(':')), decision.allowed);
      if (decision.allowed) {
        if (turn) this.enter(turn, key);
        return decision.remaining === 0 ? [[key, limit]] : [];
      }
      const others = this.underWay.get(key);
      if (others) await Promise.race(others);
      // The attempts that were running then have ended since, and their counts may have been taken back.
      else if (!hadOthers) {
        this.activity.count({ kind: 'sign_in_refused', detail: 'too_many', address });
        throw tooManyFailures(decision);
      }
    }
  }

  private async settleWrong({ filled, end }: SignInAttempt): Promise<void> {
    try {
      for (const [key, limit] of filled) {
        const next = await this.store.consume(key, limit, WINDOW_MS);
        if (!next.allowed) throw tooManyFailures(next);
        await this.store.giveBack(key, WINDOW_MS);
      }
    } finally {
      end();
    }
  }

  private begin(turn: Turn, attempt: Omit<SignInAttempt, 'isWrong' | 'end'>): SignInAttempt {
    // A known browser is not counted for the account, but clears its count.
    for (const key of attempt.failureKeys) this.enter(turn, key);
    return { ...attempt, isWrong: false, end: turn.end };
  }

  private newTurn(): Turn {
    const keys = new Set<string>();
    let resolve!: () => void;
    const ended = new Promise<void>((done) => (resolve = done));
    const end = () => {
      for (const key of keys) {
        const others = this.underWay.get(key);
        others?.delete(ended);
        if (others?.size === 0) this.underWay.delete(key);
      }
      resolve();
    };
    return { keys, ended, end };
  }

  private enter({ keys, ended }: Turn, key: string): void {
    keys.add(key);
    this.underWay.set(key, (this.underWay.get(key) ?? new Set()).add(ended));
  }
}

function tooManyFailures(decision: RateLimitDecision): Problem {
  const seconds = retryAfterSeconds(decision);
  return rateLimitExceeded(
    `There were too many failed attempts to log in. Please try again in ${waitingTime(seconds)}.`,
    {
      headers: { 'retry-after': String(seconds) },
      said: said(
        say(
          'There were too many failed attempts to log in. Please try again in {unit, select, second {{count, plural, one {# second} other {# seconds}}} other {{count, plural, one {# minute} other {# minutes}}}}.',
        ),
        waitingValues(seconds),
      ),
    },
  );
}
