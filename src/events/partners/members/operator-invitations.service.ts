import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { BrandService } from '#records/brand/brand.service.js';
import type { OperatorRole } from '#platform/config/operator-role.js';
import { Settings } from '#platform/config/settings.js';
import { isUniqueViolation } from '#platform/database/queries/database-errors.js';
import { OnDomainEvent } from '#platform/database/domain/domain-map.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict, notFound } from '#platform/http/problems/problem.js';
import { MAIL_TEXTS } from '#records/mail/mail-texts.js';
import { MailsService } from '#records/mail/mails.service.js';
import { hashPassword } from '#platform/secrets/passwords.js';
import { digestOf, isSecret } from '#platform/secrets/tokens.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { InvitationLinks } from './invitation-links.service.js';
import { type OperatorInvitation, isFor, NotForThem } from './invitation.js';
import { InvitationsRepository } from './invitations.repository.js';

/**
 * Invitations to become an operator, by mail (contract §17): an admin gives the role, and must still be an admin when it is
 * accepted.
 */
@Injectable()
export class OperatorInvitationsService {
  constructor(
    private readonly repository: InvitationsRepository,
    private readonly links: InvitationLinks,
    private readonly users: UsersService,
    private readonly protection: OperatorProtectionService,
    private readonly mails: MailsService,
    private readonly brand: BrandService,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  /** Withdraws those for which this user is responsible. */
  @OnDomainEvent('admin.ended')
  async withdrawBy(userId: string, actor: Actor): Promise<void> {
    await this.recordWithdrawn(await this.repository.deleteByInviter(userId), actor);
  }

  /** Withdraws those to the address of this user. */
  @OnDomainEvent('operator.ended', 2)
  @OnDomainEvent('operator.address_changing')
  async withdrawTo(userId: string, actor: Actor): Promise<void> {
    await this.recordWithdrawn(await this.repository.deleteTo(null, userId), actor);
  }

  /** Those that still work, oldest first, with the names of the admins behind them. */
  async list(): Promise<(OperatorInvitation & { inviterName: string })[]> {
    const found = await this.repository.listForOperators();
    const names = await this.users.namesOf(found.map(({ invitedBy }) => invitedBy));
    return found.map((each) => ({
      ...each,
      inviterName: names.find(({ id }) => id === each.invitedBy)?.name ?? '',
    }));
  }

  /**
   * Mails the link; an earlier one to the same address ends. The responsible admin is the actor, or the owner of the acting
   * client. Throws a 403 problem for anybody but an admin, a 404 problem without mail, and a 409 problem for an operator, beyond
   * 50, for a client that no admin owns, and for an admin whom a second one would have to approve.
   */
  async invite(email: string, role: OperatorRole, actor: Actor): Promise<OperatorInvitation> {
    if (!this.mails.isOn) throw notFound('This service sends no mail. Create the user, and give the role.');
    const present = await this.users.findByEmail(email);
    if (present?.role === 'operator') throw conflict('Someone with this address is an operator already.');
    await this.refuseAlone(role, present);
    if (present?.environment === 'sandbox') throw conflict('This is the address of an invented driver.');
    try {
      return await this.transactions.run(async () => {
        await this.protection.requireAdmin(actor);
        const invitedBy = await this.adminBehind(actor);
        const { name } = this.brand.current;
        const id = await this.links.send({ organisationId: null, email, role, invitedBy }, (url) =>
          MAIL_TEXTS.operatorInvitation(name, role, url),
        );
        // The address is not written to the log, because it could not be erased there.
        await this.audit.record(actor, {
          action: 'invitation.sent',
          subjectId: id,
          after: { role },
        });
        return this.repository.getForOperators(id);
      });
    } catch (error) {
      if (!isUniqueViolation(error, 'organisation_invitations_operator_email_key')) throw error;
      throw conflict('Someone has invited this address at the same moment.');
    }
  }

  /** Ends an invitation; throws a 404 problem for one that is used, expired or an organisation's. */
  async withdraw(id: string, actor: Actor): Promise<void> {
    await this.transactions.run(async () => {
      await this.protection.requireAdmin(actor);
      if (!(await this.repository.delete(null, id))) {
        throw notFound('There is no such invitation. It may have been used already.');
      }
      await this.audit.record(actor, { action: 'invitation.withdrawn', subjectId: id });
    });
  }

  private recordWithdrawn(ids: string[], actor: Actor): Promise<void> {
    const entries = ids.map((id) => ({ action: 'invitation.withdrawn' as const, subjectId: id }));
    return this.audit.recordAll(actor, entries);
  }

  /**
   * Gives the role to the logged-in user, if the invitation is for their address and that is verified; as with every role that an
   * account gains, all earlier ways to log in end, so a new password is set at the same time. The invitation is consumed in the
   * same transaction. False for a link that no longer works, or not for them; throws a 409 problem for an operator.
   */
  async accept(key: string, userId: string, password: string | undefined, actor: Actor): Promise<boolean> {
    const found = await this.find(key);
    if (!found) return false;
    const { invitedBy, role } = found;
    await this.refuseAlone(role);
    const passwordHash = password === undefined ? undefined : await hashPassword(password);
    const changes = { role: 'operator', operatorRole: role, emailVerified: true, passwordHash } as const;
    try {
      return await this.transactions.run(async () => {
        if (!(await this.protection.isStillAdmin({ type: 'user', id: invitedBy }))) return false;
        const invitation = await this.repository.use(digestOf(key));
        if (!invitation) return false;
        // As the admin who gives the role, with only that admin's power.
        const given: Actor = { ...actor, operatorRole: 'admin' };
        await this.users.update(userId, changes, given, async (before) => {
          if (!isFor(invitation, before)) throw new NotForThem();
          if (before.role === 'operator') throw conflict('You are an operator already.');
          await this.refuseAlone(role, before);
        });
        await this.recordUse(actor, found, userId);
        return true;
      });
    } catch (error) {
      if (error instanceof NotForThem) return false;
      throw error;
    }
  }

  /**
   * Creates an operator's account with the address of the invitation, which is verified by that. False for a link that no longer works;
   * throws a 409 problem if the address has got an account in the meantime.
   */
  async signUp(key: string, person: { name: string; password: string }, actor: Actor): Promise<boolean> {
    const found = await this.find(key);
    if (!found) return false;
    const { invitedBy, role } = found;
    await this.refuseAlone(role);
    const passwordHash = await hashPassword(person.password);
    return this.users.createBy(async (insert) => {
      if (!(await this.protection.isStillAdmin({ type: 'user', id: invitedBy }))) return false;
      const invitation = await this.repository.use(digestOf(key));
      if (!invitation) return false;
      const { email } = invitation;
      const account = { email, name: person.name, passwordHash, emailVerified: true };
      const user = await insert({ ...account, role: 'operator', operatorRole: role }, actor);
      await this.recordUse({ ...actor, id: user.id }, found, user.id);
      return true;
    });
  }

  private async adminBehind({ type, id, ownerId }: Actor): Promise<string> {
    const person = type === 'client' ? ownerId : id;
    if (!person || !(await this.protection.isStillAdmin({ type: 'user', id: person }))) {
      throw conflict(
        'An admin has to be responsible for each invitation. Use a client that an admin owns, or the console.',
      );
    }
    return person;
  }

  private async find(key: string): Promise<OperatorInvitation | undefined> {
    const invitation = isSecret('invitationKey', key) && (await this.repository.find(digestOf(key)));
    return invitation && invitation.organisationId === null ? invitation : undefined;
  }

  /**
   * With `FOUR_EYES`, no one can make an admin alone, or give a role to someone who counts as an operator, not even by an earlier
   * invitation.
   */
  private async refuseAlone(role: OperatorRole, user?: UserEntity | null): Promise<void> {
    if (!this.settings.fourEyes) return;
    if (user && (await this.protection.counts(user))) {
      throw conflict(
        'This person is responsible for a client of the admin API, so a second admin approves the role: give it on the page of the user.',
      );
    }
    if (role === 'admin')
      throw conflict(
        'A second admin approves new admins: invite with another role first, then give the role admin.',
      );
  }

  private recordUse(
    actor: Actor,
    { id, role, invitedBy }: OperatorInvitation,
    userId: string,
  ): Promise<void> {
    return this.audit.record(actor, {
      action: 'invitation.accepted',
      subjectId: id,
      after: { user_id: userId, role, invited_by: invitedBy },
    });
  }
}
