import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { LinkedPerson } from '#access/domain/domain-events.js';
import { IdentityEntity } from './identity.entity.js';

@Injectable()
export class IdentitiesRepository {
  constructor(@InjectRepository(IdentityEntity) private readonly identities: Repository<IdentityEntity>) {}

  /** The user that this identity is linked to. */
  async findUserId(issuer: string, subject: string): Promise<string | undefined> {
    const found = await this.identities.findOneBy({ issuer, subject });
    return found?.userId;
  }

  /** The links of a user, oldest first. */
  list(userId: string): Promise<IdentityEntity[]> {
    return this.identities.find({ where: { userId }, order: { linkedAt: 'ASC', provider: 'ASC' } });
  }

  hasAny(userId: string): Promise<boolean> {
    return this.identities.existsBy({ userId });
  }

  /** Removes the user's links, except to this person; returns how many. */
  async deleteByUser(userId: string, except?: LinkedPerson): Promise<number> {
    const query = this.identities.createQueryBuilder().delete().where('userId = :userId', { userId });
    if (except) query.andWhere('NOT (issuer = :issuer AND subject = :subject)', except);
    return (await query.execute()).affected ?? 0;
  }

  async insert(identity: Pick<IdentityEntity, 'issuer' | 'subject' | 'userId' | 'provider'>): Promise<void> {
    await this.identities.insert(identity);
  }

  /** Notes that the identity was used; false if it is not linked to this user. */
  async touch({ issuer, subject }: LinkedPerson, userId: string): Promise<boolean> {
    const { affected } = await this.identities
      .createQueryBuilder()
      .update()
      .set({ lastUsedAt: () => 'now()' })
      .where('issuer = :issuer AND subject = :subject AND userId = :userId', { issuer, subject, userId })
      .execute();
    return affected === 1;
  }

  /** The link is from now on that of this provider, unless it belongs to one of `except`, or the user has another link to it. */
  async move(
    { issuer, subject }: LinkedPerson,
    userId: string,
    { to, except }: { to: string; except: string[] },
  ): Promise<void> {
    await this.identities
      .createQueryBuilder()
      .update()
      .set({ provider: to })
      .where('issuer = :issuer AND subject = :subject AND userId = :userId', { issuer, subject, userId })
      .andWhere('NOT provider = ANY (:except)', { except })
      .andWhere(
        'NOT EXISTS (SELECT FROM identities other WHERE other.user_id = :userId AND other.provider = :to)',
        { to },
      )
      .execute();
  }

  /** Removes a link; returns whose it was, or undefined if there is no such link. */
  async delete(userId: string, provider: string): Promise<LinkedPerson | undefined> {
    const { raw } = await this.identities
      .createQueryBuilder()
      .delete()
      .where('userId = :userId AND provider = :provider', { userId, provider })
      .returning(['issuer', 'subject'])
      .execute();
    return (raw as LinkedPerson[])[0];
  }
}
