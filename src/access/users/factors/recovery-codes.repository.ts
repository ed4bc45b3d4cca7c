import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, Repository, Column, Entity, PrimaryColumn } from 'typeorm';
import { TimeOfInsert } from '#platform/database/entities/columns.js';

/** A recovery code that was not used yet; only its digest is stored. */
@Entity('recovery_codes')
export class RecoveryCodeEntity {
  @PrimaryColumn('bytea') digest!: Buffer;
  @Column('text') userId!: string;
  @TimeOfInsert() createdAt!: Date;
}

@Injectable()
export class RecoveryCodesRepository {
  constructor(@InjectRepository(RecoveryCodeEntity) private readonly codes: Repository<RecoveryCodeEntity>) {}

  count(userId: string): Promise<number> {
    return this.codes.countBy({ userId });
  }

  /** How many of the user's codes were made before that time. */
  countBefore(userId: string, time: Date): Promise<number> {
    return this.codes.countBy({ userId, createdAt: LessThan(time) });
  }

  async insert(userId: string, digests: Buffer[]): Promise<void> {
    await this.codes.insert(digests.map((digest) => ({ digest, userId })));
  }

  /** Uses up a code; false if the user does not have it any more. */
  async use(userId: string, digest: Buffer): Promise<boolean> {
    const { affected } = await this.codes.delete({ userId, digest });
    return affected === 1;
  }

  async deleteByUser(userId: string): Promise<void> {
    await this.codes.delete({ userId });
  }
}
