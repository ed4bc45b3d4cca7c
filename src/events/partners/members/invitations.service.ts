import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { BrandService } from '#records/brand/brand.service.js';
import { OnDomainEvent } from '#platform/database/domain/domain-map.js';
import type { PersonTraces } from '#access/domain/domain-events.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict, notFound } from '#platform/http/problems/problem.js';
import { MAIL_TEXTS } from '#records/mail/mail-texts.js';
import { MailsService } from '#records/mail/mails.service.js';
import { hashPassword } from '#platform/secrets/passwords.js';
import { digestOf, isSecret } from '#platform/secrets/tokens.js';
import { emailKeyOf } from '#access/users/accounts/email.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { ActorsService } from '#access/users/sessions/actors.service.js';
import { InvitationLinks } from './invitation-links.service.js';
import { type Invitation, type MemberInvitation, isFor, NotForThem } from './invitation.js';
import { InvitationsRepository } from './invitations.repository.js';
import type { MemberRole } from './member.js';
import { MembersRepository } from './members.repository.js';
import { MembersService } from './members.service.js';

/** What the page of an invitation shows. */
export type ShownInvitation = Invitation & {
  /** The organisation, or the company, for operators. */
  inviterName: string;
  /** Whether the address has an account. */
  hasAccount: boolean;
};

/** Invitations into organisations, by mail (contract §20). */
@Injectable()
export class InvitationsService {
  constructor(
    private readonly repository: InvitationsRepository,
    private readonly members: MembersService,
    private readonly membersRepository: MembersRepository,
    private readonly users: UsersService,
    private readonly links: InvitationLinks,
    private readonly mails: MailsService,
    private readonly brand: BrandService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly actors: ActorsService,
  ) {}

  /** Those that still work, oldest first. */
  list(organisationId: string): Promise<MemberInvitation[]> {
    return this.repository.list(organisationId);
  }

  /**
   * Mails the link; an earlier one to the same address ends. Throws a 404 problem without mail, and a 409 problem for a member,
   * beyond 50, and for an account that is not an organisation.
   */
  async invite(organisationId: string, email: string, role: MemberRole, actor: Actor): Promise<void> {
    if (!this.mails.isOn) throw notFound('This service sends no mail. An operator can add members.');
    const present = await this.users.findByEmail(email);
    await this.transactions.run(async () => {
      const organisation = await this.members.lockOrganisation(organisationId, actor);
      const isMember =
        emailKeyOf(organisation.email) === emailKeyOf(email) ||
        (present && (await this.membersRepository.find(organisationId, present.id)) !== null);
      if (isMember) throw conflict('Someone with this address is a member already.');
      const id = await this.links.send({ organisationId, email, role }, (url) =>
        MAIL_TEXTS.invitation(organisation.name, url),
      );
      await this.record(actor, 'organisation.member_invited', organisationId, id, role);
    });
  }

  /** Ends an invitation; throws a 404 problem for one that is used, expired or someone else's, and as `MembersService.lockAccount` does. */
  async withdraw(organisationId: string, id: string, actor: Actor): Promise<void> {
    await this.transactions.run(async () => {
      await this.members.lockAccount(organisationId, actor);
      if (!(await this.repository.delete(organisationId, id))) {
        throw notFound('There is no such invitation. It may have been used already.');
      }
      await this.record(actor, 'organisation.invitation_withdrawn', organisationId, id);
    });
  }

  /** The invitation of the link; undefined for a link that is used, expired or unknown. */
  async find(key: string): Promise<ShownInvitation | undefined> {
    const invitation = isSecret('invitationKey', key) && (await this.repository.find(digestOf(key)));
    if (!invitation) return undefined;
    const { organisationId, email } = invitation;
    const [organisation, account] = await Promise.all([
      organisationId === null ? this.brand.current : this.users.find(organisationId),
      this.users.findByEmail(email),
    ]);
    return { ...invitation, inviterName: organisation?.name ?? '', hasAccount: account !== null };
  }

  /**
   * Makes the logged-in user a member, if the invitation is for their address and that is verified. The invitation is consumed in
   * the same transaction. False for a link that no longer works, or not for them. Throws a 409 problem beyond 50 members.
   */
  async accept(key: string, userId: string, actor: Actor): Promise<boolean> {
    const found = await this.findForMember(key);
    if (!found) return false;
    try {
      return await this.transactions.run(async () => {
        const organisation = await this.members.lockOrganisation(found.organisationId);
        const invitation = await this.repository.use(digestOf(key));
        if (!invitation) return false;
        const user = await this.membersRepository.holdUser(userId);
        // Locked after the account, in the order in which sessions are ended.
        await this.actors.requireLive(actor);
        if (!isFor(invitation, user)) throw new NotForThem();
        await this.members.addTo(organisation, userId, found.role, actor);
        return true;
      });
    } catch (error) {
      if (error instanceof NotForThem) return false;
      throw error;
    }
  }

  /**
   * Creates an account with the address of the invitation, which is verified by that, and makes it a member, in one transaction. False for
   * a link that no longer works; throws a 409 problem if the address has got an account in the meantime, and beyond 50 members.
   */
  async signUp(key: string, person: { name: string; password: string }, actor: Actor): Promise<boolean> {
    const found = await this.findForMember(key);
    if (!found) return false;
    const passwordHash = await hashPassword(person.password);
    return this.users.createBy(async (insert) => {
      const organisation = await this.members.lockOrganisation(found.organisationId);
      const invitation = await this.repository.use(digestOf(key));
      if (!invitation) return false;
      const user = await insert(
        { email: invitation.email, name: person.name, passwordHash, emailVerified: true },
        actor,
      );
      await this.members.addTo(organisation, user.id, found.role, { ...actor, id: user.id });
      return true;
    });
  }

  private async findForMember(key: string): Promise<MemberInvitation | undefined> {
    const invitation = isSecret('invitationKey', key) && (await this.repository.find(digestOf(key)));
    return invitation && invitation.organisationId !== null ? invitation : undefined;
  }

  /** Invitations of an erased person, whose mails go with the address. */
  @OnDomainEvent('user.erased', 5)
  async forget(_userId: string, { emails }: PersonTraces): Promise<void> {
    for (const email of emails) await this.repository.deleteByEmail(email);
  }

  /** The address is not written to the log, because it could not be erased there. */
  private record(
    actor: Actor,
    action: string,
    organisationId: string,
    invitation: string,
    role?: MemberRole,
  ): Promise<void> {
    return this.audit.record(actor, {
      action,
      subjectType: 'user',
      subjectId: organisationId,
      after: { invitation, ...(role ? { role } : {}) },
    });
  }
}
