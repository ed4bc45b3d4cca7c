import type { DataSource } from 'typeorm';
import { EndpointEntity } from '../endpoints/endpoint.entity.js';
import { EncryptionCanaryEntity } from './encryption-canary.entity.js';

/** The canary as it is sealed. */
export type Canary = Pick<EncryptionCanaryEntity, 'keyId' | 'sealed'>;

/** Shows whether the keys belong to the database. Also used before the modules are created. */
export class EncryptionCanaryRepository {
  constructor(private readonly dataSource: DataSource) {}

  find(): Promise<Canary | null> {
    return this.canaries.findOneBy({ singleton: true });
  }

  /** Inserts the canary unless there is one. */
  async insertOnce(canary: Canary): Promise<void> {
    await this.canaries.createQueryBuilder().insert().values(canary).orIgnore().execute();
  }

  async replace(canary: Canary): Promise<void> {
    await this.canaries.update({ singleton: true }, { ...canary, sealedAt: () => 'now()' });
  }

  /** The sealed secrets of the newest endpoints. */
  newestEndpointSecrets(limit: number): Promise<Pick<EndpointEntity, 'id' | 'sealedSecret'>[]> {
    return this.dataSource.getRepository(EndpointEntity).find({
      select: { id: true, sealedSecret: true },
      order: { id: 'DESC' },
      take: limit,
    });
  }

  /** The sealed token keys that were not revoked. */
  tokenKeys(): Promise<{ id: number; sealed: Buffer }[]> {
    // Another module's table, whose repository does not exist before the modules are created.
    return this.dataSource.query('SELECT id::float8 AS id, sealed FROM token_keys WHERE revoked_at IS NULL');
  }

  private get canaries() {
    return this.dataSource.getRepository(EncryptionCanaryEntity);
  }
}
