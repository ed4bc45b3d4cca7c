import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { UserEntity } from '#access/users/accounts/user.entity.js';
import { readPage, type Page, type PageRequest } from '#platform/database/queries/read-page.js';
import type { Member, MemberRole, MemberClient } from './member.js';
import { MemberEntity } from './member.entity.js';
import { HAS_OPERATOR_SCOPE } from '#access/clients/operator-role.sql.js';

// More than anybody has.
const LISTED = 100;

@Injectable()
export class MemberClientsRepository {
  constructor(@InjectRepository(MemberEntity) private readonly members: Repository<MemberEntity>) {}

  /** The clients that have a portal, of the organisations that the user belongs to. In SQL: one join over several modules' tables. */
  list(userId: string): Promise<MemberClient[]> {
    return this.members.query(
      `SELECT c.id, c.name, c.environment, c.redirect_uris AS "redirectUris", o.id AS "organisationId", o.name AS "organisationName"
         FROM clients c JOIN users o ON o.id = c.owner_id AND o.enabled AND o.webhooks_enabled
        WHERE c.enabled AND NOT ${HAS_OPERATOR_SCOPE}
          AND c.owner_id = ANY (ARRAY(SELECT organisation_id FROM organisation_members WHERE user_id = $1) || $1::text)
        ORDER BY o.name, o.id, c.name, c.id LIMIT ${LISTED}`,
      [userId],
    );
  }
}

@Injectable()
export class MembersRepository {
  constructor(@InjectRepository(MemberEntity) private readonly members: Repository<MemberEntity>) {}

  /** Locks the organisation's account, so that its members and invitations can be counted. */
  lockOrganisation(id: string): Promise<UserEntity | null> {
    return this.members.manager.findOne(UserEntity, { where: { id }, lock: { mode: 'for_no_key_update' } });
  }

  /** Reads an account and locks it against changes until the transaction ends. */
  holdUser(id: string): Promise<UserEntity | null> {
    return this.members.manager.findOne(UserEntity, { where: { id }, lock: { mode: 'pessimistic_read' } });
  }

  /** One page by the id of the user. */
  async page(organisationId: string, page: PageRequest): Promise<Page<Member>> {
    const query = this.members
      .createQueryBuilder('member')
      .where('member.organisationId = :organisationId', { organisationId });
    const found = await readPage(page, 'member.userId', 'asc', query);
    const names = await this.namesOf(found.items.map(({ userId }) => userId));
    const items = found.items.flatMap(({ userId, role, createdAt }) => {
      const user = names.get(userId);
      return user ? [{ userId, role, createdAt, name: user.name, email: user.email }] : [];
    });
    return { ...found, items };
  }

  find(organisationId: string, userId: string): Promise<MemberEntity | null> {
    return this.members.findOneBy({ organisationId, userId });
  }

  count(organisationId: string): Promise<number> {
    return this.members.countBy({ organisationId });
  }

  /** The members who are admins; the owner is not among them. */
  async admins(organisationId: string): Promise<string[]> {
    const rows = await this.members.find({
      where: { organisationId, role: 'admin' },
      order: { userId: 'ASC' },
    });
    return rows.map(({ userId }) => userId);
  }

  /** Whether the user is a member of any organisation. */
  isMemberOfAny(userId: string): Promise<boolean> {
    return this.members.existsBy({ userId });
  }

  /** The organisations that the user is a member of, up to a limit. */
  async listOf(userId: string, limit: number): Promise<(MemberEntity & { organisationName: string })[]> {
    const found = await this.members.find({
      where: { userId },
      order: { organisationId: 'ASC' },
      take: limit,
    });
    const names = await this.namesOf(found.map(({ organisationId }) => organisationId));
    return found.map((each) => ({ ...each, organisationName: names.get(each.organisationId)?.name ?? '' }));
  }

  /** False if the user is a member already. */
  async insert(member: Pick<MemberEntity, 'organisationId' | 'userId' | 'role'>): Promise<boolean> {
    const { raw } = await this.members
      .createQueryBuilder()
      .insert()
      .values(member)
      .orIgnore()
      .returning(['userId'])
      .execute();
    return (raw as unknown[]).length === 1;
  }

  /** Locks the membership and reads it. */
  lock(organisationId: string, userId: string): Promise<MemberEntity | null> {
    return this.members.findOne({ where: { organisationId, userId }, lock: { mode: 'for_no_key_update' } });
  }

  async setRole(organisationId: string, userId: string, role: MemberRole): Promise<void> {
    await this.members.update({ organisationId, userId }, { role });
  }

  /** The role that the member had; undefined for someone who is not a member. */
  async delete(organisationId: string, userId: string): Promise<MemberRole | undefined> {
    const { raw } = await this.members
      .createQueryBuilder()
      .delete()
      .where('organisationId = :organisationId AND userId = :userId', { organisationId, userId })
      .returning('role')
      .execute();
    return (raw as { role: MemberRole }[])[0]?.role;
  }

  private async namesOf(ids: string[]): Promise<Map<string, { name: string; email: string }>> {
    const users = await this.members.manager
      .createQueryBuilder(UserEntity, 'user')
      .select(['user.id', 'user.name', 'user.email'])
      .where('user.id = ANY (:ids)', { ids })
      .getMany();
    return new Map(users.map((user) => [user.id, user]));
  }
}
