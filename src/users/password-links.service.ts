import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '../audit/audit.service.js';
import { Settings } from '../config/settings.js';
import { Transactions } from '../database/transactions.js';
import { notFound } from '../http/problem.js';
import { hashPassword } from '../secrets/passwords.js';
import { digestOf, isSecret, newSecret } from '../secrets/tokens.js';
import { AccessEndings } from './access-endings.js';

// Contract §12: the link works once within 24 hours.
const LINK_TTL_SECONDS = 86_400;

/** One-time links with which a user sets a password. */
@Injectable()
export class PasswordLinksService {
  constructor(
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly endings: AccessEndings,
  ) {}

  /** Makes a link for the user and gives its URL, this once; throws a 404 problem for an unknown user. */
  async create(userId: string, actor: Actor): Promise<string> {
    const key = newSecret('passwordKey');
    await this.transactions.run(async (manager) => {
      const rows: unknown[] = await manager.query(
        `INSERT INTO password_links (digest, user_id, expires_at)
         SELECT $1, id, now() + make_interval(secs => $3) FROM users WHERE id = $2 FOR SHARE RETURNING 1`,
        [digestOf(key), userId, LINK_TTL_SECONDS],
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

  /** Whose password the link sets; undefined for a link that is used, expired or unknown. */
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

  /** Sets the password and uses the link up, both or neither; false for a link that no longer works. */
  async redeem(key: string, password: string, actor: Actor): Promise<boolean> {
    if (!isSecret('passwordKey', key)) return false;
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
