import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { BrandEntity } from './brand.entity.js';

/** What an admin has set. */
export type StoredBrand = Omit<BrandEntity, 'isOnly' | 'changedAt'>;

const ONLY = { isOnly: true };

@Injectable()
export class BrandRepository {
  constructor(@InjectRepository(BrandEntity) private readonly brand: Repository<BrandEntity>) {}

  read(): Promise<BrandEntity | null> {
    return this.brand.findOneBy(ONLY);
  }

  /** Reads the row and locks it until the transaction ends. */
  lock(): Promise<BrandEntity> {
    return this.brand.findOneOrFail({ where: ONLY, lock: { mode: 'for_no_key_update' } });
  }

  async update(values: Partial<StoredBrand>): Promise<void> {
    await this.brand.update(ONLY, { ...values, changedAt: () => 'now()' });
  }
}
