import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, type EntityManager } from 'typeorm';
import { BrandEntity } from './brand.entity.js';

/** What an admin has set. */
export type StoredBrand = Omit<BrandEntity, 'isOnly' | 'changedAt'>;

const ONLY = { isOnly: true };

@Injectable()
export class BrandRepository {
  constructor(@InjectRepository(BrandEntity) private readonly brand: Repository<BrandEntity>) {}

  read(manager: EntityManager = this.brand.manager): Promise<BrandEntity | null> {
    return manager.withRepository(this.brand).findOneBy(ONLY);
  }

  /** Reads the row and locks it until the transaction ends. */
  lock(manager: EntityManager): Promise<BrandEntity> {
    return manager
      .withRepository(this.brand)
      .findOneOrFail({ where: ONLY, lock: { mode: 'for_no_key_update' } });
  }

  async update(manager: EntityManager, values: Partial<StoredBrand>): Promise<void> {
    await manager.withRepository(this.brand).update(ONLY, { ...values, changedAt: () => 'now()' });
  }
}
