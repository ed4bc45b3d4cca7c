import { Inject, Injectable } from '@nestjs/common';
import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '../config/settings.js';
import { Cookies } from '../http/cookies.js';
import { rateLimitExceeded } from '../http/problem.js';
import { emailKeyOf } from '../users/email.js';
import { addressKey } from './address-key.js';
import type { RateLimitDecision, RateLimitStore } from './rate-limit-store.js';
import { retryAfterSeconds } from './rate-limits.service.js';
import { RATE_LIMIT_STORE } from './store-token.js';

// Contract §3: the 6th failure in 15 minutes for one account, the 51st from one address.
const WINDOW_MS = 15 * 60_000;
const ACCOUNT_FAILURES = 5;
const ADDRESS_FAILURES = 50;
const COOKIE = 'known_browser';
const COOKIE_SECONDS = 365 * 86_400;

/** What an attempt was counted under, until it is known whether it was right. */
export interface SignInAttempt {
  accountKey: string;
  addressKey: string;
}

/**
 * Slows guessing of passwords (contract §3). An attempt is counted before the password is looked at, so that many at once
 * are counted too, and taken back when it was right. A browser that signed in to the account before counts for itself
 * alone: what strangers do does not hold it up.
 */
@Injectable()
export class SignInLimitsService {
  private readonly cookieKey: Buffer;

  constructor(
    @Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore,
    private readonly cookies: Cookies,
    settings: Settings,
  ) {
    this.cookieKey = Buffer.from(hkdfSync('sha256', settings.encryptionKey, '', 'known browsers', 32));
  }

  /** Counts an attempt; throws a 429 problem where there were too many failures. An address nobody has counts as any other. */
  async admit(request: FastifyRequest, email: string): Promise<SignInAttempt> {
    const account = accountDigest(email);
    const browser = this.knownBrowser(request, account);
    const attempt = {
      accountKey: `signin-account:${account}:${browser ?? ''}`,
      addressKey: `signin-${addressKey(request.ip)}`,
    };
    refuse(await this.store.consume(attempt.addressKey, ADDRESS_FAILURES, WINDOW_MS));
    const decision = await this.store.consume(attempt.accountKey, ACCOUNT_FAILURES, WINDOW_MS);
    if (!decision.allowed) await this.store.giveBack(attempt.addressKey, WINDOW_MS);
    refuse(decision);
    return attempt;
  }

  /** The password was right: the account's count is forgotten, the address's is as before, and the browser is known from now on. */
  async succeeded(
    attempt: SignInAttempt,
    request: FastifyRequest,
    reply: FastifyReply,
    email: string,
  ): Promise<void> {
    await Promise.all([
      this.store.clear(attempt.accountKey),
      this.store.giveBack(attempt.addressKey, WINDOW_MS),
    ]);
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

function refuse(decision: RateLimitDecision): void {
  if (decision.allowed) return;
  const seconds = retryAfterSeconds(decision);
  throw rateLimitExceeded(
    `There were too many failed attempts to log in. Please try again in ${seconds} seconds.`,
    { headers: { 'retry-after': String(seconds) } },
  );
}
