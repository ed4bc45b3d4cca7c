import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, Repository, type EntityManager } from 'typeorm';
import { RecoveryCodeEntity } from './recovery-code.entity.js';

@Injectable()
export class RecoveryCodesRepository {
  constructor(@InjectRepository(RecoveryCodeEntity) private readonly codes: Repository<RecoveryCodeEntity>) {}

  count(userId: string, manager: EntityManager = this.codes.manager): Promise<number> {
    return manager.withRepository(this.codes).countBy({ userId });
  }

  /** How many of the user's codes were made before that time. */
  countBefore(manager: EntityManager, userId: string, time: Date): Promise<number> {
    return manager.withRepository(this.codes).countBy({ userId, createdAt: LessThan(time) });
  }

  async insert(manager: EntityManager, userId: string, digests: Buffer[]): Promise<void> {
    await manager.withRepository(this.codes).insert(digests.map((digest) => ({ digest, userId })));
  }

  /** Uses up a code; false if the user does not have it any more. */
  async use(manager: EntityManager, userId: string, digest: Buffer): Promise<boolean> {
    const { affected } = await manager.withRepository(this.codes).delete({ userId, digest });
    return affected === 1;
  }

  async deleteByUser(manager: EntityManager, userId: string): Promise<void> {
    await manager.withRepository(this.codes).delete({ userId });
  }
}
