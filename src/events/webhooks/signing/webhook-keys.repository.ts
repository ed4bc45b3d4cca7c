import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, MoreThan, type Repository } from 'typeorm';
import { WebhookKeyEntity } from './webhook-key.entity.js';

/** Contract §22: after a rotation, the key before signs for as long, too. */
export const OVERLAP = "interval '24 hours'";

type NewKey = Pick<WebhookKeyEntity, 'id' | 'clientId' | 'publicKey' | 'sealed'>;

@Injectable()
export class WebhookKeysRepository {
  constructor(@InjectRepository(WebhookKeyEntity) private readonly keys: Repository<WebhookKeyEntity>) {}

  /** The keys of a client that sign now, the newest first. */
  live(clientId: string): Promise<WebhookKeyEntity[]> {
    return this.keys
      .createQueryBuilder('key')
      .where('key.clientId = :clientId', { clientId })
      .andWhere(`(key.retiredAt IS NULL OR key.retiredAt > now() - ${OVERLAP})`)
      .orderBy('key.retiredAt', 'DESC', 'NULLS FIRST')
      .getMany();
  }

  /** Stores the key unless the client has one that is not retired. In SQL, for its conflict target. */
  async insertFirst({ id, clientId, publicKey, sealed }: NewKey): Promise<void> {
    await this.keys.query(
      `INSERT INTO webhook_signing_keys (id, client_id, public_key, sealed) VALUES ($1, $2, $3, $4)
       ON CONFLICT (client_id) WHERE retired_at IS NULL DO NOTHING`,
      [id, clientId, publicKey, sealed],
    );
  }

  /** Retires this key of the client; false if it is retired already. One that was retired before ends. */
  async retire(clientId: string, id: string): Promise<boolean> {
    const { affected } = await this.keys.update(
      { id, clientId, retiredAt: IsNull() },
      { retiredAt: () => 'now()' },
    );
    if (affected !== 1) return false;
    await this.keys
      .createQueryBuilder()
      .delete()
      .where('client_id = :clientId AND id <> :id AND retired_at IS NOT NULL', { clientId, id })
      .execute();
    return true;
  }

  /** Keys of all clients, by id. */
  after(id: string, limit: number): Promise<WebhookKeyEntity[]> {
    return this.keys.find({ where: { id: MoreThan(id) }, order: { id: 'ASC' }, take: limit });
  }

  /** Stores the same key under another seal, unless it has changed since. */
  async replaceSealed(id: string, sealed: Buffer, fresh: Buffer): Promise<boolean> {
    const { affected } = await this.keys.update({ id, sealed }, { sealed: fresh });
    return affected === 1;
  }
}
