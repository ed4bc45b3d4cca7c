import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { TokenKeyEntity } from './token-key.entity.js';

/** The longest lifetimes of tokens and grants of a key, in seconds. */
type Lifetimes = Pick<TokenKeyEntity, 'accessTtl' | 'grantTtl'>;

@Injectable()
export class TokenKeysRepository {
  constructor(@InjectRepository(TokenKeyEntity) private readonly keys: Repository<TokenKeyEntity>) {}

  /** All keys with their sealed secrets, newest first. */
  all(): Promise<TokenKeyEntity[]> {
    return this.keys
      .createQueryBuilder('key')
      .addSelect('key.sealed')
      .orderBy('key.createdAt', 'DESC')
      .addOrderBy('key.id')
      .getMany();
  }

  /** Makes this the signing key unless there is one: if several instances start at the same time, only one inserts a key. */
  async insert(id: number, sealed: Buffer, { accessTtl, grantTtl }: Lifetimes): Promise<boolean> {
    // SQL for its conflict target, an expression: a second signing key is ignored, a taken id is an error.
    const rows: unknown[] = await this.keys.manager.query(
      `INSERT INTO token_keys (id, sealed, access_ttl, grant_ttl) VALUES ($1, $2, $3, $4)
       ON CONFLICT ((true)) WHERE retired_at IS NULL DO NOTHING RETURNING id`,
      [id, sealed, accessTtl, grantTtl],
    );
    return rows.length === 1;
  }

  /** Raises the recorded lifetimes of the key's tokens. */
  async raiseLifetimes(id: number, { accessTtl, grantTtl }: Lifetimes): Promise<void> {
    await this.keys
      .createQueryBuilder()
      .update()
      .set({
        accessTtl: () => 'greatest(access_ttl, :accessTtl)',
        grantTtl: () => 'greatest(grant_ttl, :grantTtl)',
      })
      .where('id = :id', { id, accessTtl, grantTtl })
      .execute();
  }

  /** Stops signing with the current key if it is older than this many days; false if it is not. */
  async retire(olderThanDays: number): Promise<boolean> {
    const { affected } = await this.keys
      .createQueryBuilder()
      .update()
      .set({ retiredAt: () => 'now()' })
      .where('retiredAt IS NULL AND createdAt <= now() - make_interval(days => :olderThanDays)', {
        olderThanDays,
      })
      .execute();
    return affected === 1;
  }

  /** Revokes a key; false if not found, or it is already revoked. */
  async revoke(id: number): Promise<boolean> {
    const { affected } = await this.keys.update(
      { id, revokedAt: IsNull() },
      { revokedAt: () => 'now()', retiredAt: () => 'coalesce(retired_at, now())' },
    );
    return affected === 1;
  }

  /** Replaces the sealed form of the key, unless it has changed since. */
  async replaceSealed(id: number, sealed: Buffer, fresh: Buffer): Promise<boolean> {
    const { affected } = await this.keys.update({ id, sealed }, { sealed: fresh });
    return affected === 1;
  }
}
