import { Inject, Injectable } from '@nestjs/common';
import { HOUR_MS } from '../../config/durations.js';
import { Settings } from '../../config/settings.js';
import { withheldMails } from '../../mail/mail-metrics.js';
import { accountDigest } from '../../users/sessions/known-browsers.service.js';
import { addressKey } from '../../http/server/address-key.js';
import { rateLimitExceeded } from '../../http/problems/problem.js';
import { countDecision } from '../rate-limit-metrics.js';
import type { RateLimitDecision, RateLimitStore } from '../store/rate-limit-store.js';
import { retryAfterSeconds } from '../rate-limits.service.js';
import { RATE_LIMIT_STORE } from '../store/store-token.js';
import { waitingTime } from '../waiting-time.js';

// Contract §18.
const MAILS_TO_ONE_ADDRESS = 5;
const MAILS_OF_ONE_PARTNER = 20;

/** Why a mail is not sent, for the person who requested it, and when it can be. */
export interface MailRefusal {
  reason: string;
  retryAfterSeconds: number;
}

/** Limits of the mails that are sent for people who are not logged in, or to an address of their choice (contract §18). */
@Injectable()
export class MailLimitsService {
  constructor(
    @Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore,
    private readonly settings: Settings,
  ) {}

  /** Counts a mail that is requested without a login; false over a limit. Every address counts, whether it has an account or not. */
  async admit(email: string, networkAddress: string): Promise<boolean> {
    const key = `mail-${addressKey(networkAddress)}`;
    if (!(await this.count(key, this.settings.mailsPerNetworkAddress))) {
      withheldMails.inc({ reason: 'limit_of_network' });
      return false;
    }
    return this.admitTo(email);
  }

  /** Counts a mail that a logged-in person sends to an address; false over the limit. */
  async admitTo(email: string): Promise<boolean> {
    return (await this.decideTo(email)).allowed;
  }

  /** The same; over the limit it returns the seconds until one may be sent. */
  async waitFor(email: string): Promise<number | undefined> {
    const decision = await this.decideTo(email);
    return decision.allowed ? undefined : retryAfterSeconds(decision);
  }

  /** The same for a program; throws a 429 problem over the limit. */
  async requireTo(email: string): Promise<void> {
    const decision = await this.decideTo(email);
    if (decision.allowed) return;
    const seconds = retryAfterSeconds(decision);
    throw rateLimitExceeded(
      `Too many mails were sent to this address. Please try again in ${waitingTime(seconds)}.`,
      { headers: { 'retry-after': String(seconds) } },
    );
  }

  /**
   * Counts a mail that someone in the portal sends to an address of their choice, for the person, the organisation and the
   * address. It counts even if the invitation or contact is withdrawn afterwards. Undefined if it may be sent.
   */
  async admitOfPartner(
    email: string,
    organisationId: string,
    personId: string | undefined,
  ): Promise<MailRefusal | undefined> {
    const sent = `sent ${MAILS_OF_ONE_PARTNER} mails within an hour`;
    const limits = [
      ...(personId
        ? [[`mail-of-person:${personId}`, MAILS_OF_ONE_PARTNER, `you have ${sent}`] as const]
        : []),
      [
        `mail-of-organisation:${organisationId}`,
        MAILS_OF_ONE_PARTNER,
        `your organisation has ${sent}`,
      ] as const,
    ];
    for (const [key, limit, why] of limits) {
      const decision = await this.decide(key, limit);
      if (!decision.allowed) return refusalOf(decision, why);
    }
    const decision = await this.decideTo(email);
    return decision.allowed ? undefined : refusalOf(decision, 'too many mails were sent to this address');
  }

  private async decideTo(email: string): Promise<RateLimitDecision> {
    const decision = await this.decide(mailToKey(email), MAILS_TO_ONE_ADDRESS);
    if (!decision.allowed) withheldMails.inc({ reason: 'limit_of_address' });
    return decision;
  }

  private async count(key: string, limit: number): Promise<boolean> {
    return (await this.decide(key, limit)).allowed;
  }

  private async decide(key: string, limit: number): Promise<RateLimitDecision> {
    const decision = await this.store.consume(key, limit, HOUR_MS);
    countDecision(key.slice(0, key.indexOf(':')), decision.allowed);
    return decision;
  }
}

function refusalOf(decision: RateLimitDecision, why: string): MailRefusal {
  const seconds = retryAfterSeconds(decision);
  return {
    reason: `Nothing was sent: ${why}. Try again in ${waitingTime(seconds)}.`,
    retryAfterSeconds: seconds,
  };
}

const mailToKey = (email: string): string => `mail-to:${accountDigest(email)}`;
