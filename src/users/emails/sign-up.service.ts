import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { Transactions } from '../../database/queries/transactions.js';
import { MAIL_TEXTS } from '../../mail/mail-texts.js';
import { MailsService } from '../../mail/mails.service.js';
import { hashPassword } from '../../secrets/passwords.js';
import { digestOf, isSecret, newSecret } from '../../secrets/tokens.js';
import type { Actor } from '../../audit/audit.service.js';
import { UsersRepository } from '../accounts/users.repository.js';
import { UsersService } from '../accounts/users.service.js';
import { PasswordLinksService } from '../passwords/password-links.service.js';
import { EmailLinksRepository } from './email-links.repository.js';

// Contract §18: the link works once within 24 hours.
const LINK_TTL_SECONDS = 86_400;

/** Accounts that people make themselves (contract §18). */
@Injectable()
export class SignUpService {
  constructor(
    private readonly links: EmailLinksRepository,
    private readonly users: UsersRepository,
    private readonly accounts: UsersService,
    private readonly passwordLinks: PasswordLinksService,
    private readonly mails: MailsService,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
  ) {}

  /** Mails a link to create an account; an address that has one gets a mail that says so. */
  async mailLink(email: string, actor: Actor): Promise<void> {
    const user = await this.users.findByEmail(email);
    if (user) await this.passwordLinks.mailToOwner(user, 'account_exists', actor);
    else await this.transactions.run((manager) => this.queueLink(manager, email));
  }

  private async queueLink(manager: EntityManager, email: string): Promise<void> {
    const key = newSecret('signUpKey');
    const digest = digestOf(key);
    await this.links.insert(manager, {
      digest,
      purpose: 'sign_up',
      userId: null,
      email,
      ttl: LINK_TTL_SECONDS,
    });
    await this.mails.queue(manager, {
      kind: 'sign_up',
      address: email,
      cause: `link ${digest.toString('base64url')}`,
      usefulSeconds: LINK_TTL_SECONDS,
      mail: MAIL_TEXTS.signUp(`${this.settings.baseUrl}/sign-up/${key}`),
    });
  }

  /** The address of the link; undefined for a link that is used, expired or unknown. */
  async find(key: string): Promise<string | undefined> {
    if (!isSecret('signUpKey', key)) return undefined;
    return (await this.links.find(digestOf(key), 'sign_up'))?.email;
  }

  /**
   * Creates the account, with a verified address, and uses up the link in one transaction. False for a link that no longer works;
   * throws a 409 problem if the address has got an account meanwhile.
   */
  async redeem(key: string, person: { name: string; password: string }, actor: Actor): Promise<boolean> {
    if ((await this.find(key)) === undefined) return false;
    const passwordHash = await hashPassword(person.password);
    return this.accounts.createBy(async (manager, insert) => {
      const link = await this.links.use(manager, digestOf(key), 'sign_up');
      if (!link) return false;
      await insert({ email: link.email, name: person.name, passwordHash, emailVerified: true }, actor);
      return true;
    });
  }
}
