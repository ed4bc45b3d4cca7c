import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { PasskeyEntity } from './passkey.entity.js';

export type NewPasskey = Omit<PasskeyEntity, 'createdAt' | 'lastUsedAt'>;

@Injectable()
export class PasskeysRepository {
  constructor(@InjectRepository(PasskeyEntity) private readonly passkeys: Repository<PasskeyEntity>) {}

  /** The user's passkeys, oldest first. */
  list(userId: string): Promise<PasskeyEntity[]> {
    return this.passkeys.find({ where: { userId }, order: { id: 'ASC' } });
  }

  count(userId: string): Promise<number> {
    return this.passkeys.countBy({ userId });
  }

  find(userId: string, id: string): Promise<PasskeyEntity | null> {
    return this.passkeys.findOneBy({ id, userId });
  }

  findByCredentialId(credentialId: string): Promise<PasskeyEntity | null> {
    return this.passkeys.findOneBy({ credentialId });
  }

  async insert(passkey: NewPasskey): Promise<void> {
    await this.passkeys.insert(passkey);
  }

  async rename(id: string, name: string): Promise<void> {
    await this.passkeys.update({ id }, { name });
  }

  /**
   * Removes one of the user's, unless it is the last way in: then the user has another passkey, a link to one of these providers, or,
   * `withPassword`, a password. The caller has locked the user, so that of two simultaneous removals the second sees the first.
   */
  async delete(
    userId: string,
    id: string,
    { providers, withPassword }: { providers: string[]; withPassword: boolean },
  ): Promise<boolean> {
    // By hand: what must be left and the removal are one statement.
    const [, deleted]: [unknown[], number] = await this.passkeys.manager.query(
      `DELETE FROM passkeys p USING users u
        WHERE p.id = $2 AND p.user_id = $1 AND u.id = $1
          AND ((u.password_hash IS NOT NULL AND $4)
               OR EXISTS (SELECT 1 FROM passkeys other WHERE other.user_id = $1 AND other.id <> $2)
               OR EXISTS (SELECT 1 FROM identities i WHERE i.user_id = $1 AND i.provider = ANY ($3)))`,
      [userId, id, providers, withPassword],
    );
    return deleted === 1;
  }

  /** Removes all of the user's; returns how many there were. */
  async deleteByUser(userId: string): Promise<number> {
    const { affected } = await this.passkeys.delete({ userId });
    return affected ?? 0;
  }

  /**
   * Notes a use. False if the passkey is gone, or its counter did not go up: another device then has a copy of it. (A counter
   * that stays 0 counts nothing.)
   */
  async use(id: string, signCount: number, backedUp: boolean): Promise<boolean> {
    const { affected } = await this.passkeys
      .createQueryBuilder()
      .update()
      .set({ signCount, backedUp, lastUsedAt: () => 'now()' })
      .where('id = :id AND (signCount < :signCount OR (signCount = 0 AND :signCount = 0))', { id, signCount })
      .execute();
    return affected === 1;
  }
}
