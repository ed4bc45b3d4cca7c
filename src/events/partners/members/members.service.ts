import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict, notFound, roleTooLow, validationFailed } from '#platform/http/problems/problem.js';
import { roleNeeded } from '#platform/config/operator-role.js';
import { MESSAGES, type Message } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { isId } from '#platform/secrets/ids.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { ActorsService } from '#access/users/sessions/actors.service.js';
import { InvitationsRepository } from './invitations.repository.js';
import type { Member, MemberRole, MemberClient } from './member.js';
import { MembersRepository, MemberClientsRepository } from './members.repository.js';
import { violation } from '#platform/http/problems/violation.js';
import { said, say } from '#platform/language/text.js';

/** Contract §20: the maximum for each organisation. */
const MEMBERS_PER_ORGANISATION = 50;

/** People who belong to an organisation, and their roles (contract §20). The owner's own account is always an admin. */
@Injectable()
export class MembersService {
  constructor(
    private readonly repository: MembersRepository,
    private readonly clients: MemberClientsRepository,
    private readonly invitations: InvitationsRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly notifications: NotificationsService,
    private readonly actors: ActorsService,
  ) {}

  list(organisationId: string, page: PageRequest): Promise<Page<Member>> {
    return this.repository.page(organisationId, page);
  }

  /** All of them. */
  async all(organisationId: string): Promise<Member[]> {
    return (await this.repository.page(organisationId, { size: MEMBERS_PER_ORGANISATION })).items;
  }

  /** The member; throws a 404 problem. */
  async get(organisationId: string, userId: string): Promise<Member> {
    const member = (await this.all(organisationId)).find((each) => each.userId === userId);
    return member ?? missing();
  }

  /** Whether the user belongs to the organisation, as its own account or as a member. */
  async isMember(organisationId: string, userId: string): Promise<boolean> {
    return userId === organisationId || (await this.repository.find(organisationId, userId)) !== null;
  }

  /** The clients whose portals the user may open, up to 100. */
  clientsOf(userId: string): Promise<MemberClient[]> {
    return this.clients.list(userId);
  }

  isMemberOfAny(userId: string): Promise<boolean> {
    return this.repository.isMemberOfAny(userId);
  }

  /**
   * Adds a user chosen by an operator. Throws a 400 problem for an unknown user, and a 409 problem for the owner, for someone who
   * is a member already, beyond 50, and for an account that is not an organisation.
   */
  async add(organisationId: string, userId: string, role: MemberRole, actor: Actor): Promise<Member> {
    await this.transactions.run(async () => {
      const organisation = await this.lockOrganisation(organisationId, actor);
      if (userId === organisationId) throw conflict('The owner’s own account is always an admin.');
      const user = isId('user', userId) ? await this.repository.holdUser(userId) : null;
      if (!user) throw validationFailed({ user_id: [violation('unknown_id', { what: 'user' })] });
      if (isSynthetic(user)) throw validationFailed({ user_id: [violation('driver')] });
      if (!(await this.addTo(organisation, userId, role, actor))) {
        throw conflict('This user is a member already.');
      }
    });
    return this.get(organisationId, userId);
  }

  /**
   * Adds a user to an organisation that is locked; false for a member, and for the organisation's own account,
   * which can have got an address that was invited before. Throws a 409 problem beyond 50.
   */
  async addTo(organisation: UserEntity, userId: string, role: MemberRole, actor: Actor): Promise<boolean> {
    const organisationId = organisation.id;
    if (userId === organisationId) return false;
    if (await this.repository.find(organisationId, userId)) return false;
    if ((await this.repository.count(organisationId)) >= MEMBERS_PER_ORGANISATION) {
      throw conflict(
        `An organisation can have at most ${MEMBERS_PER_ORGANISATION} members. Remove one first.`,
        {
          said: said(say('An organisation can have at most {count} members. Remove one first.'), {
            count: MEMBERS_PER_ORGANISATION,
          }),
        },
      );
    }
    if (!(await this.repository.insert({ organisationId, userId, role }))) return false;
    await this.record(actor, 'organisation.member_added', organisationId, {
      after: { user_id: userId, role },
    });
    await this.tell(organisation, userId, role);
    return true;
  }

  /** Gives a member another role; the same role changes nothing. Throws a 404 problem for someone who is not a member. */
  async changeRole(organisationId: string, userId: string, role: MemberRole, actor: Actor): Promise<Member> {
    await this.transactions.run(async () => {
      const organisation = await this.lockAccount(organisationId, actor);
      refuseOwner(organisationId, userId);
      const member = (await this.repository.lock(organisationId, userId)) ?? missing();
      if (member.role === role) return;
      await this.repository.setRole(organisationId, userId, role);
      await this.record(actor, 'organisation.member_changed', organisationId, {
        before: { user_id: userId, role: member.role },
        after: { user_id: userId, role },
      });
      await this.tell(organisation, userId, role);
    });
    return this.get(organisationId, userId);
  }

  /**
   * Ends the membership, and with it the member's portal sessions, and an invitation that would give it back. Throws a 404 problem for
   * someone who is not a member.
   */
  async remove(organisationId: string, userId: string, actor: Actor): Promise<void> {
    await this.transactions.run(async () => {
      const organisation = await this.lockAccount(organisationId, actor);
      refuseOwner(organisationId, userId);
      const role = await this.repository.delete(organisationId, userId);
      if (role === undefined) missing();
      await this.record(actor, 'organisation.member_removed', organisationId, {
        before: { user_id: userId, role },
      });
      for (const invitation of await this.invitations.deleteTo(organisationId, userId)) {
        const after = { invitation };
        await this.record(actor, 'organisation.invitation_withdrawn', organisationId, { after });
      }
      await this.tell(organisation, userId, null);
    });
  }

  /** Notifies the owner and the members who are admins, in the caller's transaction. */
  async tellAdmins(organisationId: string, message: Message): Promise<void> {
    const admins = [organisationId, ...(await this.repository.admins(organisationId))];
    for (const userId of admins) await this.notifications.raise(userId, null, message);
  }

  /**
   * Locks the account; throws a 404 problem for an unknown one, and a 409 problem for one that is no organisation. If an actor is given:
   * throws `NoLongerSignedIn` if the session has ended before the lock was free, and a 403 problem for a member who is no longer an admin.
   */
  async lockOrganisation(id: string, actor?: Actor): Promise<UserEntity> {
    const organisation = await this.lockAccount(id, actor);
    if (organisation.kind !== 'organisation') {
      throw conflict('Only an organisation gets members: this account is of kind individual.');
    }
    return organisation;
  }

  /** The same for an account of any kind: a former organisation keeps its members until they are removed. */
  async lockAccount(id: string, actor?: Actor): Promise<UserEntity> {
    const account = isId('user', id) ? await this.repository.lockOrganisation(id) : null;
    if (actor) await this.requireAdmin(id, actor);
    if (!account) throw notFound('There is no user with this id.');
    return account;
  }

  /** Operators, the owner's own account and the service itself need not be members. */
  private async requireAdmin(organisationId: string, actor: Actor): Promise<void> {
    await this.actors.requireLive(actor);
    const { type, id, operatorRole } = actor;
    if (type !== 'user' || id === null || operatorRole !== undefined || id === organisationId) return;
    const member = await this.repository.find(organisationId, id);
    if (member?.role !== 'admin') throw roleTooLow(roleNeeded('admin'));
  }

  private tell({ name }: UserEntity, userId: string, role: MemberRole | null): Promise<void> {
    return this.notifications.raise(userId, null, MESSAGES.membershipChanged(name, role));
  }

  private record(
    actor: Actor,
    action: string,
    organisationId: string,
    change: { before?: Record<string, unknown>; after?: Record<string, unknown> },
  ): Promise<void> {
    return this.audit.record(actor, {
      action,
      subjectType: 'user',
      subjectId: organisationId,
      ...change,
    });
  }
}

/** Drivers of a sandbox are not people (contract §19). */
const isSynthetic = (user: UserEntity & { environment?: string }): boolean => user.environment === 'sandbox';

function refuseOwner(organisationId: string, userId: string): void {
  if (userId === organisationId) throw conflict('The owner’s own account is always an admin.');
}

function missing(): never {
  throw notFound('There is no such member.');
}
