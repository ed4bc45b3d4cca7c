import { Inject, Injectable } from '@nestjs/common';
import { HOUR_MS } from '../config/durations.js';
import { Settings } from '../config/settings.js';
import { withheldMails } from '../mail/mail-metrics.js';
import { accountDigest } from '../users/sessions/known-browsers.service.js';
import { addressKey } from './address-key.js';
import { countDecision } from './rate-limit-metrics.js';
import type { RateLimitStore } from './rate-limit-store.js';
import { RATE_LIMIT_STORE } from './store-token.js';

// Contract §18.
const MAILS_TO_ONE_ADDRESS = 5;

/** Limits of the mails that somebody causes whom nobody knows, or who names somebody else's address (contract §18). */
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
    const allowed = await this.count(`mail-to:${accountDigest(email)}`, MAILS_TO_ONE_ADDRESS);
    if (!allowed) withheldMails.inc({ reason: 'limit_of_address' });
    return allowed;
  }

  private async count(key: string, limit: number): Promise<boolean> {
    const { allowed } = await this.store.consume(key, limit, HOUR_MS);
    countDecision(key.slice(0, key.indexOf(':')), allowed);
    return allowed;
  }
}
