import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { ReceiptKeyEntity } from './receipt-key.entity.js';

@Injectable()
export class ReceiptKeysRepository {
  constructor(@InjectRepository(ReceiptKeyEntity) private readonly keys: Repository<ReceiptKeyEntity>) {}

  /** All keys, newest first, without their private parts. */
  all(): Promise<ReceiptKeyEntity[]> {
    return this.keys.find({ order: { createdAt: 'DESC', id: 'ASC' } });
  }

  /** All keys with their private parts. */
  allSealed(): Promise<ReceiptKeyEntity[]> {
    return this.keys.createQueryBuilder('key').addSelect('key.sealed').orderBy('key.createdAt').getMany();
  }

  /** The key that signs, with its private part. */
  signing(): Promise<ReceiptKeyEntity | null> {
    return this.keys
      .createQueryBuilder('key')
      .addSelect('key.sealed')
      .where({ retiredAt: IsNull() })
      .getOne();
  }

  /** Stores the key as the one that signs, unless there is one. In SQL, for its conflict target, an expression. */
  async insert({
    id,
    publicKey,
    sealed,
  }: Pick<ReceiptKeyEntity, 'id' | 'publicKey' | 'sealed'>): Promise<void> {
    await this.keys.query(
      `INSERT INTO receipt_keys (id, public_key, sealed) VALUES ($1, $2, $3)
       ON CONFLICT ((true)) WHERE retired_at IS NULL DO NOTHING`,
      [id, publicKey, sealed],
    );
  }

  /** Stops signing with this key. Its public part stays. */
  async retire(id: string): Promise<void> {
    await this.keys.update({ id, retiredAt: IsNull() }, { retiredAt: () => 'now()' });
  }

  /** Replaces the sealed form of the key, unless it has changed in the meantime. */
  async replaceSealed(id: string, sealed: Buffer, fresh: Buffer): Promise<boolean> {
    const { affected } = await this.keys.update({ id, sealed }, { sealed: fresh });
    return affected === 1;
  }
}
