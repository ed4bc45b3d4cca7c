import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
import { PasswordLinkEntity, type PasswordLinkPurpose } from './password-link.entity.js';
import { UserEntity } from '../accounts/user.entity.js';

export interface NewPasswordLink {
  digest: Buffer;
  userId: string;
  /** Seconds until it expires. */
  ttl: number;
  formId: string | null;
  purpose: PasswordLinkPurpose;
  returnTo?: Buffer | null;
  /** The address it is mailed to; the link is created only for an enabled user who still has it, and has verified it if an operator. */
  mailedTo?: string;
}

export interface UsedPasswordLink {
  userId: string;
  mailed: boolean;
  returnTo: Buffer | null;
}

/** What a link that works is about. */
export interface FoundPasswordLink {
  email: string;
  hasPassword: boolean;
  purpose: PasswordLinkPurpose | null;
  returnTo: Buffer | null;
}

@Injectable()
export class PasswordLinksRepository {
  constructor(@InjectRepository(PasswordLinkEntity) private readonly links: Repository<PasswordLinkEntity>) {}

  /** Creates a link and locks its user against changes; false if there is no such user, or it is a driver of a sandbox. */
  async insert(link: NewPasswordLink): Promise<boolean> {
    const { digest, userId, ttl, formId, mailedTo = null, purpose, returnTo = null } = link;
    // By hand: the lock on the user and the insert are one statement.
    const rows: unknown[] = await this.links.manager.query(
      `INSERT INTO password_links (digest, user_id, expires_at, form_id, mailed, purpose, return_to)
       SELECT $1, id, now() + make_interval(secs => $3), $4, $5::text IS NOT NULL, $6, $7
         FROM users WHERE id = $2 AND environment = 'live' AND ($5::text IS NULL OR (
           enabled AND email = $5 AND (operator_role IS NULL OR email_verified_at IS NOT NULL))) FOR SHARE RETURNING 1`,
      [digest, userId, ttl, formId, mailedTo, purpose, returnTo],
    );
    return rows.length === 1;
  }

  /** What a link that works is about. */
  find(digest: Buffer): Promise<FoundPasswordLink | undefined> {
    return this.links
      .createQueryBuilder('link')
      .innerJoin(UserEntity, 'user', 'user.id = link.userId')
      .select('user.email', 'email')
      .addSelect('user.passwordHash IS NOT NULL', 'hasPassword')
      .addSelect('link.purpose', 'purpose')
      .addSelect('link.returnTo', 'returnTo')
      .where('link.digest = :digest AND link.usedAt IS NULL AND link.expiresAt > now() AND user.enabled', {
        digest,
      })
      .getRawOne<FoundPasswordLink>();
  }

  /** Uses up a link; returns what it did for whom, undefined if the link no longer works. */
  async use(digest: Buffer): Promise<UsedPasswordLink | undefined> {
    // By hand: an update that depends on another table, for which TypeORM has no FROM.
    const [rows]: [UsedPasswordLink[], number] = await this.links.manager.query(
      `UPDATE password_links l SET used_at = now() FROM users u
        WHERE l.digest = $1 AND l.used_at IS NULL AND l.expires_at > now() AND u.id = l.user_id AND u.enabled
        RETURNING l.user_id AS "userId", l.mailed, l.return_to AS "returnTo"`,
      [digest],
    );
    return rows[0];
  }

  /** The password links of a user, the last to expire first, up to a limit. */
  list(userId: string, limit: number): Promise<PasswordLinkEntity[]> {
    return this.links.find({ where: { userId }, order: { expiresAt: 'DESC' }, take: limit });
  }

  async deleteByUser(userId: string): Promise<void> {
    await this.links.delete({ userId });
  }

  /** Deletes the user's links except used ones. */
  async deleteUnused(userId: string): Promise<void> {
    await this.links.delete({ userId, usedAt: IsNull() });
  }
}
