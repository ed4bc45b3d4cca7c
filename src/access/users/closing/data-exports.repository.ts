import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { DataExportEntity } from './data-export.entity.js';

const works = (alias = ''): string =>
  `${alias}digest = :digest AND ${alias}userId = :userId AND ${alias}usedAt IS NULL AND ${alias}expiresAt > now()`;

@Injectable()
export class DataExportsRepository {
  constructor(@InjectRepository(DataExportEntity) private readonly exports: Repository<DataExportEntity>) {}

  /** Gives the user a link, in place of an earlier one. */
  async replace({ userId, digest, ttl }: { userId: string; digest: Buffer; ttl: number }): Promise<void> {
    // By hand: the times are the database's, also where the row is there already.
    await this.exports.manager.query(
      `INSERT INTO data_exports (user_id, digest, expires_at) VALUES ($1, $2, now() + make_interval(secs => $3))
       ON CONFLICT (user_id) DO UPDATE
         SET digest = excluded.digest, created_at = now(), expires_at = excluded.expires_at, used_at = NULL`,
      [userId, digest, ttl],
    );
  }

  /** A link that works for this user. */
  async find(userId: string, digest: Buffer): Promise<DataExportEntity | undefined> {
    const found = await this.exports
      .createQueryBuilder('link')
      .where(works('link.'), { digest, userId })
      .getOne();
    return found ?? undefined;
  }

  /** The user's link, which may be used or expired. */
  async findOf(userId: string): Promise<DataExportEntity | undefined> {
    return (await this.exports.findOneBy({ userId })) ?? undefined;
  }

  /** Uses up a link of this user, once; false if it no longer works. */
  async use(userId: string, digest: Buffer): Promise<boolean> {
    const { affected } = await this.exports
      .createQueryBuilder()
      .update()
      .set({ usedAt: () => 'now()' })
      .where(works(), { digest, userId })
      .execute();
    return affected === 1;
  }

  /** Gives back a link for which nothing was sent. */
  async giveBack(userId: string, digest: Buffer): Promise<void> {
    await this.exports.update({ userId, digest }, { usedAt: null });
  }
}
