import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository, type SelectQueryBuilder } from 'typeorm';
import { emailKeyOf } from '#access/users/accounts/email.js';
import { UserEntity } from '#access/users/accounts/user.entity.js';
import { OneTimeLinks, secondsFromNow } from '#platform/database/queries/one-time-links.js';
import { requireTransaction } from '#platform/database/queries/transaction-around.js';
import { InvitationEntity } from './invitation.entity.js';
import type {
  Invitation,
  MemberInvitation,
  NewInvitation,
  OperatorInvitation,
  UsedInvitation,
} from './invitation.js';

// Any number that no other lock of the service uses.
const OPERATORS = 1_702_260_344;

/** Invitations that have not expired; those to become an operator work only while the responsible person is an admin. */
const working = (invitations: Repository<InvitationEntity>): SelectQueryBuilder<InvitationEntity> =>
  invitations
    .createQueryBuilder('invitation')
    .leftJoin(UserEntity, 'inviter', 'inviter.id = invitation.invitedBy')
    .where('invitation.expiresAt > now()')
    .andWhere("(invitation.invitedBy IS NULL OR (inviter.enabled AND inviter.operatorRole = 'admin'))")
    .orderBy('invitation.id');

@Injectable()
export class InvitationsRepository {
  private readonly oneTime: OneTimeLinks<InvitationEntity>;

  constructor(
    @InjectRepository(InvitationEntity) private readonly invitations: Repository<InvitationEntity>,
  ) {
    this.oneTime = new OneTimeLinks(invitations, { digest: 'digest', expiresAt: 'expiresAt' });
  }

  /** Those that still work, oldest first. */
  async list(organisationId: string): Promise<MemberInvitation[]> {
    const found = await working(this.invitations)
      .andWhere('invitation.organisationId = :organisationId', { organisationId })
      .getMany();
    return found as MemberInvitation[];
  }

  /** Those to become an operator that still work, oldest first. */
  async listForOperators(): Promise<OperatorInvitation[]> {
    const found = await working(this.invitations).andWhere('invitation.organisationId IS NULL').getMany();
    return found as OperatorInvitation[];
  }

  /** Makes others that invite operators wait until the transaction ends. In SQL, because it locks no row. */
  async lockForOperators(): Promise<void> {
    requireTransaction('A lock that is to last');
    await this.invitations.manager.query(`SELECT pg_advisory_xact_lock(${OPERATORS}::bigint)`);
  }

  getForOperators(id: string): Promise<OperatorInvitation> {
    return this.invitations.findOneByOrFail({ id }) as Promise<OperatorInvitation>;
  }

  /** Those to an address, up to a limit. */
  async listTo(email: string, limit: number): Promise<Invitation[]> {
    const found = await this.invitations.find({
      where: { emailKey: emailKeyOf(email) },
      order: { id: 'ASC' },
      take: limit,
    });
    return found as Invitation[];
  }

  async insert({
    ttl,
    ...invitation
  }: NewInvitation & { id: string; digest: Buffer; ttl: number }): Promise<void> {
    await this.invitations
      .createQueryBuilder()
      .insert()
      .values({
        ...invitation,
        emailKey: emailKeyOf(invitation.email),
        expiresAt: secondsFromNow(ttl),
      })
      .execute();
  }

  /** An invitation that works. */
  async find(digest: Buffer): Promise<Invitation | undefined> {
    const found = await working(this.invitations)
      .andWhere('invitation.digest = :digest', { digest })
      .getOne();
    return (found as Invitation | null) ?? undefined;
  }

  /** Consumes an invitation; undefined if it no longer works. */
  use(digest: Buffer): Promise<UsedInvitation | undefined> {
    return this.oneTime.use(digest);
  }

  /** `organisationId`: null for an invitation to become an operator. */
  async delete(organisationId: string | null, id: string): Promise<boolean> {
    const { affected } = await this.invitations.delete({ id, organisationId: organisationId ?? IsNull() });
    return affected === 1;
  }

  /** Ends those to become an operator for which this admin is responsible; returns their ids. */
  async deleteByInviter(invitedBy: string): Promise<string[]> {
    const { raw } = await this.invitations
      .createQueryBuilder()
      .delete()
      .where('invitedBy = :invitedBy', { invitedBy })
      .returning('id')
      .execute();
    return (raw as { id: string }[]).map(({ id }) => id);
  }

  /** Ends those to the address of this user, into an organisation or, with null, to become an operator; returns their ids. */
  async deleteTo(organisationId: string | null, userId: string): Promise<string[]> {
    const { raw } = await this.invitations
      .createQueryBuilder()
      .delete()
      .where('organisationId IS NOT DISTINCT FROM :organisationId', { organisationId })
      .andWhere('emailKey = (SELECT u.email_key FROM users u WHERE u.id = :userId)', { userId })
      .returning('id')
      .execute();
    return (raw as { id: string }[]).map(({ id }) => id);
  }

  /** Ends an earlier invitation of the same address. */
  async deleteByEmailIn(organisationId: string | null, email: string): Promise<void> {
    await this.invitations.delete({
      organisationId: organisationId ?? IsNull(),
      emailKey: emailKeyOf(email),
    });
  }

  /** Removes an erased person's invitations. */
  async deleteByEmail(email: string): Promise<void> {
    await this.invitations.delete({ emailKey: emailKeyOf(email) });
  }
}
