import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository, type EntityManager } from 'typeorm';
import { PasswordLinkEntity } from './password-link.entity.js';
import { UserEntity } from '../accounts/user.entity.js';

export interface NewPasswordLink {
  digest: Buffer;
  userId: string;
  /** Seconds until it expires. */
  ttl: number;
  formId: string | null;
}

@Injectable()
export class PasswordLinksRepository {
  constructor(@InjectRepository(PasswordLinkEntity) private readonly links: Repository<PasswordLinkEntity>) {}

  /** Creates a link and locks its user against changes; false if there is no such user. */
  async insert(manager: EntityManager, { digest, userId, ttl, formId }: NewPasswordLink): Promise<boolean> {
    // By hand: the lock on the user and the insert are one statement.
    const rows: unknown[] = await manager.query(
      `INSERT INTO password_links (digest, user_id, expires_at, form_id)
       SELECT $1, id, now() + make_interval(secs => $3), $4 FROM users WHERE id = $2 FOR SHARE RETURNING 1`,
      [digest, userId, ttl, formId],
    );
    return rows.length === 1;
  }

  /** The user of a link that works. */
  findUser(manager: EntityManager, digest: Buffer): Promise<{ email: string } | undefined> {
    return manager
      .withRepository(this.links)
      .createQueryBuilder('link')
      .innerJoin(UserEntity, 'user', 'user.id = link.userId')
      .select('user.email', 'email')
      .where('link.digest = :digest AND link.usedAt IS NULL AND link.expiresAt > now() AND user.enabled', {
        digest,
      })
      .getRawOne<{ email: string }>();
  }

  /** Uses up a link; returns the id of its user, undefined if the link no longer works. */
  async use(manager: EntityManager, digest: Buffer): Promise<string | undefined> {
    // By hand: an update that depends on another table, for which TypeORM has no FROM.
    const [rows]: [{ user_id: string }[], number] = await manager.query(
      `UPDATE password_links l SET used_at = now() FROM users u
        WHERE l.digest = $1 AND l.used_at IS NULL AND l.expires_at > now() AND u.id = l.user_id AND u.enabled
        RETURNING l.user_id`,
      [digest],
    );
    return rows[0]?.user_id;
  }

  async deleteByUser(manager: EntityManager, userId: string): Promise<void> {
    await manager.withRepository(this.links).delete({ userId });
  }

  /** Deletes the user's links except used ones. */
  async deleteUnused(manager: EntityManager, userId: string): Promise<void> {
    await manager.withRepository(this.links).delete({ userId, usedAt: IsNull() });
  }
}
