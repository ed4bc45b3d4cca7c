import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, In, Column, Entity, PrimaryColumn } from 'typeorm';
import { BrandEntity } from './brand.entity.js';

/** An image that stands for the service or for a client. */
@Entity('logos')
export class LogoEntity {
  /** The SHA-256 digest of the image. */
  @PrimaryColumn('text') id!: string;
  /** PNG. */
  @Column('bytea', { select: false }) image!: Buffer;
  @Column({ type: 'timestamptz' }) storedAt!: Date;
}

@Injectable()
export class LogosRepository {
  constructor(@InjectRepository(LogoEntity) private readonly logos: Repository<LogoEntity>) {}

  /** Stores an image. An existing one is refreshed, so that no purge removes it before the transaction refers to it. */
  async store(id: string, image: Buffer): Promise<void> {
    await this.logos
      .createQueryBuilder()
      .insert()
      .values({ id, image, storedAt: () => 'now()' })
      .orUpdate(['stored_at'], ['id'])
      .execute();
  }

  async imageOf(id: string): Promise<Buffer | undefined> {
    const found = await this.logos.findOne({ select: { id: true, image: true }, where: { id } });
    return found?.image;
  }

  async imagesOf(ids: string[]): Promise<Map<string, Buffer>> {
    const found = await this.logos.find({ select: { id: true, image: true }, where: { id: In(ids) } });
    return new Map(found.map(({ id, image }) => [id, image]));
  }
}

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
