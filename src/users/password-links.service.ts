import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '../audit/audit.service.js';
import { Settings } from '../config/settings.js';
import { isUniqueViolation } from '../database/database-errors.js';
import { Transactions } from '../database/transactions.js';
import { notFound } from '../http/problem.js';
import { hashPassword } from '../secrets/passwords.js';
import { digestOf, isSecret, newSecret } from '../secrets/tokens.js';
import { AccessRevocations } from './access-revocations.js';

// Contract §12: the link works once within 24 hours.
const LINK_TTL_SECONDS = 86_400;

/** One-time links for setting a password. */
@Injectable()
export class PasswordLinksService {
  constructor(
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly endings: AccessRevocations,
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
      const rows: unknown[] = await manager.query(
        `INSERT INTO password_links (digest, user_id, expires_at, form_id)
         SELECT $1, id, now() + make_interval(secs => $3), $4 FROM users WHERE id = $2 FOR SHARE RETURNING 1`,
        [digestOf(key), userId, LINK_TTL_SECONDS, formId],
      );
      if (rows.length === 0) throw notFound('There is no user with this id.');
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
    return this.transactions.run(async (manager) => {
      const rows: { email: string }[] = await manager.query(
        `SELECT u.email FROM password_links l JOIN users u ON u.id = l.user_id
          WHERE l.digest = $1 AND l.used_at IS NULL AND l.expires_at > now() AND u.enabled`,
        [digestOf(key)],
      );
      return rows[0];
    });
  }

  /** Sets the password and uses up the link in one transaction. False for a link that no longer works, which costs no hashing. */
  async redeem(key: string, password: string, actor: Actor): Promise<boolean> {
    if (!(await this.find(key))) return false;
    const passwordHash = await hashPassword(password);
    return this.transactions.run(async (manager) => {
      const [used]: [{ user_id: string }[], number] = await manager.query(
        `UPDATE password_links l SET used_at = now() FROM users u
          WHERE l.digest = $1 AND l.used_at IS NULL AND l.expires_at > now() AND u.id = l.user_id AND u.enabled
          RETURNING l.user_id`,
        [digestOf(key)],
      );
      const userId = used[0]?.user_id;
      if (userId === undefined) return false;
      await manager.query('UPDATE users SET password_hash = $2, updated_at = now() WHERE id = $1', [
        userId,
        passwordHash,
      ]);
      await manager.query('DELETE FROM sessions WHERE user_id = $1', [userId]);
      await manager.query('DELETE FROM password_links WHERE user_id = $1 AND used_at IS NULL', [userId]);
      await this.endings.endForUser(manager, userId, 'password_changed');
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
