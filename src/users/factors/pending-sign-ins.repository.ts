import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, type EntityManager } from 'typeorm';
import { PendingSignInEntity } from './pending-sign-in.entity.js';

@Injectable()
export class PendingSignInsRepository {
  constructor(
    @InjectRepository(PendingSignInEntity) private readonly pending: Repository<PendingSignInEntity>,
  ) {}

  async insert(signIn: Omit<PendingSignInEntity, 'expiresAt'>, ttl: number): Promise<void> {
    await this.pending
      .createQueryBuilder()
      .insert()
      .values({ ...signIn, expiresAt: () => 'now() + make_interval(secs => :ttl)' })
      .setParameter('ttl', ttl)
      .execute();
  }

  find(digest: Buffer): Promise<PendingSignInEntity | null> {
    return this.pending
      .createQueryBuilder('pending')
      .where('pending.digest = :digest AND pending.expiresAt > now()', { digest })
      .getOne();
  }

  /** Uses it up; false if it was used or has expired. */
  async use(manager: EntityManager, digest: Buffer): Promise<boolean> {
    const { affected } = await manager
      .withRepository(this.pending)
      .createQueryBuilder()
      .delete()
      .where('digest = :digest AND expiresAt > now()', { digest })
      .execute();
    return affected === 1;
  }

  async delete(digest: Buffer): Promise<void> {
    await this.pending.delete({ digest });
  }

  async deleteByUser(manager: EntityManager, userId: string): Promise<void> {
    await manager.withRepository(this.pending).delete({ userId });
  }
}
