import { Inject, Injectable } from '@nestjs/common';
import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActivityService } from '../activity/activity.service.js';
import { Settings } from '../config/settings.js';
import { Cookies } from '../http/cookies.js';
import { rateLimitExceeded, type Problem } from '../http/problem.js';
import { emailKeyOf } from '../users/email.js';
import { addressKey } from './address-key.js';
import { countDecision } from './rate-limit-metrics.js';
import type { RateLimitDecision, RateLimitStore } from './rate-limit-store.js';
import { retryAfterSeconds } from './rate-limits.service.js';
import { RATE_LIMIT_STORE } from './store-token.js';

// Contract §3: the 6th failure in 15 minutes for one account, the 51st from one address.
const WINDOW_MS = 15 * 60_000;
const ACCOUNT_FAILURES = 6;
const ADDRESS_FAILURES = 51;
const COOKIE = 'known_browser';
const COOKIE_SECONDS = 365 * 86_400;

/** An attempt that was let in, until it is known whether it was right. */
export interface SignInAttempt {
  email: string;
  /** The browser signed in to the account before. */
  isKnownBrowser: boolean;
  /** The counts that this attempt filled: a wrong password is answered with a refusal already. */
  filled: [key: string, limit: number][];
  /** The counts that a right password clears. */
  failureKeys: string[];
  /** Absent for a known browser. */
  addressKey: string | undefined;
  /** Lets those go on who wait to see what became of it. */
  end: () => void;
}

/**
 * Slows guessing of passwords (contract §3). An attempt is counted before the password is looked at, so that many at once
 * are counted too, and taken back when it was right; who finds the count full of attempts under way waits for them. A
 * browser that signed in to the account before counts for itself alone: what strangers do does not hold it up.
 */
@Injectable()
export class SignInLimitsService {
  private readonly cookieKey: Buffer;
  private readonly underWay = new Map<string, Set<Promise<void>>>();

  constructor(
    @Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore,
    private readonly cookies: Cookies,
    private readonly activity: ActivityService,
    settings: Settings,
  ) {
    this.cookieKey = Buffer.from(hkdfSync('sha256', settings.encryptionKey, '', 'known browsers', 32));
  }

  /**
   * Counts an attempt; throws a 429 problem where there were too many failures. An address nobody has counts as any
   * other. Each attempt that was let in must be settled.
   */
  async admit(request: FastifyRequest, email: string): Promise<SignInAttempt> {
    const account = `signin-account:${accountDigest(email)}`;
    const browser = this.knownBrowser(request, accountDigest(email));
    // Strangers at the same address do not hold up a browser that is known either.
    if (browser !== undefined) {
      const own = `${account}:${browser}`;
      const filled = await this.reserve(own, ACCOUNT_FAILURES);
      return this.begin({
        email,
        isKnownBrowser: true,
        filled,
        failureKeys: [account, own],
        addressKey: undefined,
      });
    }
    const networkKey = `signin-${addressKey(request.ip)}`;
    const filled = await this.reserve(networkKey, ADDRESS_FAILURES);
    try {
      filled.push(...(await this.reserve(account, ACCOUNT_FAILURES)));
    } catch (error) {
      await this.store.giveBack(networkKey, WINDOW_MS);
      throw error;
    }
    return this.begin({
      email,
      isKnownBrowser: false,
      filled,
      failureKeys: [account],
      addressKey: networkKey,
    });
  }

  /**
   * Says what became of an attempt; throws a 429 problem where it was wrong once too often. When it was right, the
   * account's count is forgotten, the address's is as before, and the browser is known from now on.
   */
  async settle(
    attempt: SignInAttempt,
    right: boolean,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    try {
      if (!right) return await this.refuseFilled(attempt);
      const { failureKeys, addressKey: networkKey } = attempt;
      await Promise.all([
        ...failureKeys.map((key) => this.store.clear(key)),
        ...(networkKey === undefined ? [] : [this.store.giveBack(networkKey, WINDOW_MS)]),
      ]);
      this.rememberBrowser(attempt.email, request, reply);
    } finally {
      attempt.end();
    }
  }

  /** Counts an attempt; the count, where this one filled it. */
  private async reserve(key: string, limit: number): Promise<[string, number][]> {
    for (;;) {
      const decision = await this.store.consume(key, limit, WINDOW_MS);
      countDecision(key.slice(0, key.indexOf(':')), decision.allowed);
      if (decision.allowed) return decision.remaining === 0 ? [[key, limit]] : [];
      const others = this.underWay.get(key);
      if (!others) {
        this.activity.count({ kind: 'sign_in_refused', detail: 'too_many' });
        throw tooManyFailures(decision);
      }
      await Promise.race(others);
    }
  }

  private async refuseFilled({ filled }: SignInAttempt): Promise<void> {
    for (const [key, limit] of filled) {
      const next = await this.store.consume(key, limit, WINDOW_MS);
      if (!next.allowed) throw tooManyFailures(next);
      await this.store.giveBack(key, WINDOW_MS);
    }
  }

  private begin(attempt: Omit<SignInAttempt, 'end'>): SignInAttempt {
    const keys = [...attempt.failureKeys, ...(attempt.addressKey === undefined ? [] : [attempt.addressKey])];
    let resolve!: () => void;
    const ended = new Promise<void>((done) => (resolve = done));
    for (const key of keys) this.underWay.set(key, (this.underWay.get(key) ?? new Set()).add(ended));
    const end = () => {
      for (const key of keys) {
        const others = this.underWay.get(key);
        others?.delete(ended);
        if (others?.size === 0) this.underWay.delete(key);
      }
      resolve();
    };
    return { ...attempt, end };
  }

  private rememberBrowser(email: string, request: FastifyRequest, reply: FastifyReply): void {
    const account = accountDigest(email);
    if (this.knownBrowser(request, account)) return;
    const browser = randomBytes(16).toString('base64url');
    this.cookies.set(reply, COOKIE, `${browser}.${this.mac(account, browser)}`, COOKIE_SECONDS);
  }

  /** Which browser this is, where it signed in to this account before; else undefined. */
  private knownBrowser(request: FastifyRequest, account: string): string | undefined {
    const [browser, mac] = this.cookies.get(request, COOKIE)?.split('.') ?? [];
    if (!browser || !mac || !/^[A-Za-z0-9_-]{22}$/.test(browser)) return undefined;
    const [given, right] = [Buffer.from(mac), Buffer.from(this.mac(account, browser))];
    return given.length === right.length && timingSafeEqual(given, right) ? browser : undefined;
  }

  private mac(account: string, browser: string): string {
    return createHmac('sha256', this.cookieKey).update(`${account} ${browser}`).digest('base64url');
  }
}

/** The counter's name of an account: no e-mail address goes into the store. */
const accountDigest = (email: string): string =>
  createHash('sha256').update(emailKeyOf(email)).digest('base64url');

function tooManyFailures(decision: RateLimitDecision): Problem {
  const seconds = retryAfterSeconds(decision);
  return rateLimitExceeded(
    `There were too many failed attempts to log in. Please try again in ${seconds} seconds.`,
    { headers: { 'retry-after': String(seconds) } },
  );
}
