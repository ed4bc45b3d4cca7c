import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, type EntityManager } from 'typeorm';
import { emailKeyOf } from '../../users/accounts/email.js';
import { InvitationEntity } from './invitation.entity.js';
import type { MemberRole } from './member-role.js';

/** An invitation as its organisation sees it. */
export type Invitation = Pick<
  InvitationEntity,
  'id' | 'organisationId' | 'email' | 'role' | 'createdAt' | 'expiresAt'
>;

@Injectable()
export class InvitationsRepository {
  constructor(
    @InjectRepository(InvitationEntity) private readonly invitations: Repository<InvitationEntity>,
  ) {}

  /** Those that still work, oldest first. */
  list(
    organisationId: string,
    manager: EntityManager = this.invitations.manager,
  ): Promise<InvitationEntity[]> {
    return manager
      .withRepository(this.invitations)
      .createQueryBuilder('invitation')
      .where('invitation.organisationId = :organisationId AND invitation.expiresAt > now()', {
        organisationId,
      })
      .orderBy('invitation.id')
      .getMany();
  }

  /** Those to an address, up to so many. */
  listTo(email: string, limit: number): Promise<InvitationEntity[]> {
    return this.invitations.find({
      where: { emailKey: emailKeyOf(email) },
      order: { id: 'ASC' },
      take: limit,
    });
  }

  async insert(
    manager: EntityManager,
    {
      ttl,
      ...invitation
    }: { id: string; organisationId: string; email: string; role: MemberRole; digest: Buffer; ttl: number },
  ): Promise<void> {
    await manager
      .withRepository(this.invitations)
      .createQueryBuilder()
      .insert()
      .values({
        ...invitation,
        emailKey: emailKeyOf(invitation.email),
        expiresAt: () => `now() + make_interval(secs => ${Math.trunc(ttl)})`,
      })
      .execute();
  }

  /** An invitation that works. */
  async find(digest: Buffer): Promise<Invitation | undefined> {
    const found = await this.invitations
      .createQueryBuilder('invitation')
      .where('invitation.digest = :digest AND invitation.expiresAt > now()', { digest })
      .getOne();
    return found ?? undefined;
  }

  /** Uses up an invitation; undefined if it no longer works. */
  async use(
    manager: EntityManager,
    digest: Buffer,
  ): Promise<Pick<Invitation, 'id' | 'organisationId' | 'email' | 'role'> | undefined> {
    const { raw } = await manager
      .withRepository(this.invitations)
      .createQueryBuilder()
      .delete()
      .where('digest = :digest AND expiresAt > now()', { digest })
      .returning('id, organisation_id AS "organisationId", email, role')
      .execute();
    return (raw as Invitation[])[0];
  }

  async delete(manager: EntityManager, organisationId: string, id: string): Promise<boolean> {
    const { affected } = await manager.withRepository(this.invitations).delete({ id, organisationId });
    return affected === 1;
  }

  /** Ends an earlier invitation of the same address. */
  async deleteByEmailIn(manager: EntityManager, organisationId: string, email: string): Promise<void> {
    await manager.withRepository(this.invitations).delete({ organisationId, emailKey: emailKeyOf(email) });
  }

  /** Removes an erased person's invitations. */
  async deleteByEmail(manager: EntityManager, email: string): Promise<void> {
    await manager.withRepository(this.invitations).delete({ emailKey: emailKeyOf(email) });
  }
}
