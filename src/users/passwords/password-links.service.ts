import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '../../audit/audit.service.js';
import { Settings } from '../../config/settings.js';
import { isUniqueViolation } from '../../database/queries/database-errors.js';
import { Transactions } from '../../database/queries/transactions.js';
import { notFound } from '../../http/problems/problem.js';
import { hashPassword } from '../../secrets/passwords.js';
import { digestOf, isSecret, newSecret } from '../../secrets/tokens.js';
import { AccessRevocations } from '../accounts/access-revocations.js';
import { PasswordLinksRepository } from './password-links.repository.js';
import { SessionsRepository } from '../sessions/sessions.repository.js';
import { UsersRepository } from '../accounts/users.repository.js';
import { UsersService } from '../accounts/users.service.js';

// Contract §12: the link works once within 24 hours.
const LINK_TTL_SECONDS = 86_400;

/** One-time links for setting a password. */
@Injectable()
export class PasswordLinksService {
  constructor(
    private readonly links: PasswordLinksRepository,
    private readonly users: UsersRepository,
    private readonly sessions: SessionsRepository,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly revocations: AccessRevocations,
    private readonly accounts: UsersService,
  ) {}

  /** Creates a link for the user and returns its URL, only this once; throws a 404 problem for an unknown user. */
  create(userId: string, actor: Actor): Promise<string> {
    return this.make(userId, actor, null);
  }

  /** The same for the form with this id; undefined if that form has already created its link. */
  async createOnce(formId: string, userId: string, actor: Actor): Promise<string | undefined> {
    try {
      return await this.make(userId, actor, formId);
    } catch (error) {
      if (!isUniqueViolation(error, 'password_links_form_id_key')) throw error;
      return undefined;
    }
  }

  private async make(userId: string, actor: Actor, formId: string | null): Promise<string> {
    const key = newSecret('passwordKey');
    await this.transactions.run(async (manager) => {
      await this.accounts.refuseOnOperator(actor, userId, manager);
      const link = { digest: digestOf(key), userId, ttl: LINK_TTL_SECONDS, formId };
      if (!(await this.links.insert(manager, link))) throw notFound('There is no user with this id.');
      await this.audit.record(manager, actor, {
        action: 'user.password_link_created',
        subjectType: 'user',
        subjectId: userId,
      });
    });
    return `${this.settings.baseUrl}/password/${key}`;
  }

  /** The user of the link; undefined for a link that is used, expired or unknown. */
  async find(key: string): Promise<{ email: string } | undefined> {
    if (!isSecret('passwordKey', key)) return undefined;
    return this.transactions.run((manager) => this.links.findUser(manager, digestOf(key)));
  }

  /** Sets the password and uses up the link in one transaction. False for a link that no longer works, which costs no hashing. */
  async redeem(key: string, password: string, actor: Actor): Promise<boolean> {
    if (!(await this.find(key))) return false;
    const passwordHash = await hashPassword(password);
    return this.transactions.run(async (manager) => {
      const userId = await this.links.use(manager, digestOf(key));
      if (userId === undefined) return false;
      await this.users.update(manager, userId, { passwordHash });
      await this.sessions.deleteByUser(manager, userId);
      await this.links.deleteUnused(manager, userId);
      await this.revocations.revokeByUser(manager, userId, 'password_changed');
      await this.audit.record(
        manager,
        { ...actor, type: 'user', id: userId },
        {
          action: 'user.password_changed',
          subjectType: 'user',
          subjectId: userId,
        },
      );
      return true;
    });
  }
}
