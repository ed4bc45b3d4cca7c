import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { AccountDeletionEntity } from './account-deletion.entity.js';

/** An erasure takes seconds at most; after that the one who was at it has died, or was refused. */
const LEASE_MINUTES = 5;

@Injectable()
export class AccountDeletionsRepository {
  constructor(
    @InjectRepository(AccountDeletionEntity) private readonly deletions: Repository<AccountDeletionEntity>,
  ) {}

  find(userId: string): Promise<AccountDeletionEntity | null> {
    return this.deletions.findOneBy({ userId });
  }

  /** False if it was asked for before: that stays. */
  async insert(userId: string, days: number): Promise<boolean> {
    const { raw } = await this.deletions
      .createQueryBuilder()
      .insert()
      .values({ userId, dueAt: () => `now() + make_interval(days => ${Math.trunc(days)})` })
      .orIgnore()
      .returning(['userId'])
      .execute();
    return (raw as unknown[]).length === 1;
  }

  /** False if nothing was asked for. */
  async delete(userId: string): Promise<boolean> {
    const { affected } = await this.deletions.delete({ userId });
    return affected === 1;
  }

  /** Takes what is due, once; false if it is not due, or was taken back, or by another instance. */
  async take(userId: string): Promise<boolean> {
    const { affected } = await this.deletions
      .createQueryBuilder()
      .delete()
      .where('userId = :userId AND dueAt <= now()', { userId })
      .execute();
    return affected === 1;
  }

  /**
   * Claims up to `limit` due deletions, the earliest first, and returns their users. In SQL, because it skips rows that another
   * instance is claiming.
   */
  async claim(limit: number): Promise<string[]> {
    const [rows]: [{ userId: string }[], number] = await this.deletions.query(
      `UPDATE account_deletions SET lease_until = now() + make_interval(mins => ${LEASE_MINUTES})
        WHERE user_id = ANY (ARRAY(
          SELECT user_id FROM account_deletions WHERE due_at <= now() AND lease_until <= now()
           ORDER BY due_at LIMIT $1 FOR NO KEY UPDATE SKIP LOCKED))
       RETURNING user_id AS "userId"`,
      [limit],
    );
    return rows.map(({ userId }) => userId);
  }
}
