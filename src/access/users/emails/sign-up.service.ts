import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { MAIL_TEXTS } from '#records/mail/mail-texts.js';
import { MailsService } from '#records/mail/mails.service.js';
import { hashPassword } from '#platform/secrets/passwords.js';
import { digestOf, isSecret, newLink } from '#platform/secrets/tokens.js';
import type { Actor } from '#records/audit/audit.service.js';
import type { UserEntity } from '../accounts/user.entity.js';
import { UsersRepository } from '../accounts/users.repository.js';
import { UsersService } from '../accounts/users.service.js';
import { PasswordLinksService } from '../passwords/password-links.service.js';
import { EmailLinksRepository } from './email-links.repository.js';
import { SealedReturns } from './sealed-returns.service.js';

// Contract §18: the link works once within 24 hours.
const LINK_TTL_SECONDS = 86_400;

/** What a link to create an account is about. */
export interface ShownSignUp {
  email: string;
  /** Where the person was going before the mail. */
  returnTo: string | undefined;
}

/** An account that was just made, with the password hash. */
export interface NewSignUp {
  user: UserEntity;
  returnTo: string | undefined;
}

/** Accounts that people make themselves (contract §18). */
@Injectable()
export class SignUpService {
  constructor(
    private readonly links: EmailLinksRepository,
    private readonly users: UsersRepository,
    private readonly accounts: UsersService,
    private readonly passwordLinks: PasswordLinksService,
    private readonly returns: SealedReturns,
    private readonly mails: MailsService,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Mails a link to create an account, which then leads to `returnTo`; an address that has an account gets a mail that says so, and
   * whose link leads there as well.
   */
  async mailLink(email: string, returnTo: string | undefined, actor: Actor): Promise<void> {
    const user = await this.users.findByEmail(email);
    if (user) await this.passwordLinks.mailToOwner(user, 'account_exists', returnTo, actor);
    else await this.transactions.run(() => this.queueLink(email, returnTo, actor));
  }

  private async queueLink(email: string, returnTo: string | undefined, { language }: Actor): Promise<void> {
    const { key, digest } = newLink('signUpKey');
    await this.links.insert({
      digest,
      purpose: 'sign_up',
      userId: null,
      email,
      ttl: LINK_TTL_SECONDS,
      returnTo: this.returns.seal(digest, returnTo),
    });
    await this.mails.queue({
      kind: 'sign_up',
      address: email,
      cause: `link ${digest.toString('base64url')}`,
      usefulSeconds: LINK_TTL_SECONDS,
      language,
      mail: MAIL_TEXTS.signUp(`${this.settings.baseUrl}/sign-up/${key}`),
    });
  }

  /** What the link was issued for; undefined for a link that is used, expired or unknown. */
  async find(key: string): Promise<ShownSignUp | undefined> {
    if (!isSecret('signUpKey', key)) return undefined;
    const digest = digestOf(key);
    const link = await this.links.find(digest, 'sign_up');
    return link && { email: link.email, returnTo: this.returns.open(digest, link.returnTo) };
  }

  /**
   * Creates the account, with a verified address, and uses up the link in one transaction. Undefined for a link that no longer
   * works; throws a 409 problem if the address has got an account in the meantime.
   */
  async redeem(
    key: string,
    person: { name: string; password: string },
    actor: Actor,
  ): Promise<NewSignUp | undefined> {
    if (!(await this.find(key))) return undefined;
    const digest = digestOf(key);
    const passwordHash = await hashPassword(person.password);
    return this.accounts.createBy(async (insert) => {
      const link = await this.links.use(digest, 'sign_up');
      if (!link) return undefined;
      const account = { email: link.email, name: person.name, passwordHash, emailVerified: true };
      const user = await insert(account, actor);
      return { user: { ...user, passwordHash }, returnTo: this.returns.open(digest, link.returnTo) };
    });
  }
}
