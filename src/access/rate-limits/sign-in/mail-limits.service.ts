import { Inject, Injectable } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import { HOUR_MS } from '#platform/config/durations.js';
import { Settings } from '#platform/config/settings.js';
import { withheldMails } from '#records/mail/mail-metrics.js';
import { accountDigest } from '#access/users/sessions/known-browsers.service.js';
import { addressKey } from '#platform/http/server/address-key.js';
import { rateLimitExceeded } from '#platform/http/problems/problem.js';
import { countDecision } from '../rate-limit-metrics.js';
import { type RateLimitDecision, type RateLimitStore, RATE_LIMIT_STORE } from '../store/rate-limit-store.js';
import { retryAfterSeconds } from '../rate-limits.service.js';
import { waitingTime } from '../waiting-time.js';

// Contract §18.
const MAILS_TO_ONE_ADDRESS = 5;
const MAILS_OF_ONE_SENDER = 20;

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

  /**
   * Counts a mail that someone in the portal sends to an address of their choice, for the person, the organisation and the
   * address. It counts even if the invitation or contact is withdrawn afterwards. Undefined if it may be sent.
   */
  admitOfPartner(
    email: string,
    organisationId: string,
    personId: string | undefined,
  ): Promise<MailRefusal | undefined> {
    return this.admitFrom(
      personId,
      [`mail-of-organisation:${organisationId}`, 'your organisation has'],
      email,
    );
  }

  /** The same for the invitation of an operator: for the admin who is responsible for it, all admins together, and the address. */
  admitOfAdmin(
    email: string,
    { id, ownerId }: Pick<Actor, 'id' | 'ownerId'>,
  ): Promise<MailRefusal | undefined> {
    const person = ownerId ?? id ?? undefined;
    return this.admitFrom(person, ['mail-of-admins:all', 'the admins together have'], email);
  }

  /** The same for a program; throws a 429 problem over a limit. */
  async requireOfAdmin(email: string, actor: Actor): Promise<void> {
    const refusal = await this.admitOfAdmin(email, actor);
    if (!refusal) return;
    const headers = { 'retry-after': String(refusal.retryAfterSeconds) };
    throw rateLimitExceeded(refusal.reason, { headers });
  }

  private async admitFrom(
    personId: string | undefined,
    [group, who]: readonly [key: string, who: string],
    email: string,
  ): Promise<MailRefusal | undefined> {
    const limits = [
      ...(personId ? [[`mail-of-person:${personId}`, 'you have'] as const] : []),
      [group, who] as const,
    ];
    for (const [key, subject] of limits) {
      const decision = await this.decide(key, MAILS_OF_ONE_SENDER);
      if (!decision.allowed)
        return refusalOf(decision, `${subject} sent ${MAILS_OF_ONE_SENDER} mails within an hour`);
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
