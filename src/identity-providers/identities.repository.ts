import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, type EntityManager } from 'typeorm';
import type { LinkedPerson } from '../users/accounts/sign-in-ways.service.js';
import { IdentityEntity } from './identity.entity.js';
import { queryIn } from '../database/queries/query-in.js';

@Injectable()
export class IdentitiesRepository {
  constructor(@InjectRepository(IdentityEntity) private readonly identities: Repository<IdentityEntity>) {}

  /** The user that this identity is linked to. */
  async findUserId(manager: EntityManager, issuer: string, subject: string): Promise<string | undefined> {
    const found = await manager.withRepository(this.identities).findOneBy({ issuer, subject });
    return found?.userId;
  }

  /** The links of a user, oldest first. */
  list(userId: string): Promise<IdentityEntity[]> {
    return this.identities.find({ where: { userId }, order: { linkedAt: 'ASC', provider: 'ASC' } });
  }

  isLinked(manager: EntityManager, userId: string, provider: string): Promise<boolean> {
    return manager.withRepository(this.identities).existsBy({ userId, provider });
  }

  hasAny(manager: EntityManager, userId: string): Promise<boolean> {
    return manager.withRepository(this.identities).existsBy({ userId });
  }

  /** Removes the user's links, except to this person; returns how many. */
  async deleteByUser(manager: EntityManager, userId: string, except?: LinkedPerson): Promise<number> {
    const query = queryIn(manager, this.identities).delete().where('userId = :userId', { userId });
    if (except) query.andWhere('NOT (issuer = :issuer AND subject = :subject)', except);
    return (await query.execute()).affected ?? 0;
  }

  async insert(
    manager: EntityManager,
    identity: Pick<IdentityEntity, 'issuer' | 'subject' | 'userId' | 'provider'>,
  ): Promise<void> {
    await manager.withRepository(this.identities).insert(identity);
  }

  /** Notes that the identity was used; false if it is not linked to this user. */
  async touch(manager: EntityManager, issuer: string, subject: string, userId: string): Promise<boolean> {
    const { affected } = await manager
      .withRepository(this.identities)
      .update({ issuer, subject, userId }, { lastUsedAt: () => 'now()' });
    return affected === 1;
  }

  /** Removes a link; returns the subject, or undefined if there is no such link. */
  async delete(manager: EntityManager, userId: string, provider: string): Promise<string | undefined> {
    const { raw } = await queryIn(manager, this.identities)
      .delete()
      .where('userId = :userId AND provider = :provider', { userId, provider })
      .returning(['subject'])
      .execute();
    return (raw as { subject: string }[])[0]?.subject;
  }
}
