import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService, type Actor } from '../../audit/audit.service.js';
import { ClientsService } from '../../clients/clients.service.js';
import { Settings } from '../../config/settings.js';
import type { Page, PageRequest } from '../../database/queries/read-page.js';
import { Transactions } from '../../database/queries/transactions.js';
import { conflict, forbidden, notFound, Problem } from '../../http/problems/problem.js';
import { isId } from '../../secrets/ids.js';
import type { UserEntity } from '../../users/accounts/user.entity.js';
import type { NewUser, UserChanges } from '../../users/accounts/user-changes.js';
import { UsersService, type ChangeCheck } from '../../users/accounts/users.service.js';
import { stateOf, type ApprovalAction, type ApprovalEntity, type ApprovalState } from './approval.entity.js';
import { ApprovalsRepository, type Party } from './approvals.repository.js';

/** What became of a request: it is done, or waits for a second admin. */
export type Outcome<T = void> = { done: T; waiting?: undefined } | { waiting: ApprovalEntity };

/**
 * What needs two admins with `FOUR_EYES=true` (contract §17); without it, it is done at once. Approving and what is approved are one
 * transaction, so a crash leaves neither without the other, and of two decisions at once the first counts.
 */
@Injectable()
export class ApprovalsService {
  constructor(
    private readonly repository: ApprovalsRepository,
    private readonly users: UsersService,
    private readonly clients: ClientsService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly settings: Settings,
  ) {}

  /** Newest first. */
  list(state: ApprovalState | undefined, page: PageRequest): Promise<Page<ApprovalEntity>> {
    return this.repository.list(state, page);
  }

  /** The approval; throws a 404 problem. */
  async get(id: string): Promise<ApprovalEntity> {
    return (isId('appr', id) ? await this.repository.find(id) : null) ?? this.missing();
  }

  countPending(): Promise<number> {
    return this.repository.countPending();
  }

  async eraseUser(id: string, actor: Actor): Promise<Outcome> {
    if (!this.settings.fourEyes) return { done: await this.users.erase(id, actor) };
    await this.users.get(id);
    return this.request('user.erase', id, actor);
  }

  async deleteClient(id: string, actor: Actor): Promise<Outcome> {
    if (!this.settings.fourEyes) return { done: await this.clients.delete(id, actor) };
    await this.clients.get(id);
    return this.request('client.delete', id, actor);
  }

  /** Creates a user. Throws a 409 problem for an admin that a second one would have to approve: there is nobody to approve yet. */
  async createUser(input: NewUser, actor: Actor): Promise<UserEntity> {
    if (this.settings.fourEyes && input.role === 'operator' && (input.operatorRole ?? 'admin') === 'admin') {
      throw conflict(
        'A second admin approves new admins: create the user first, then make the user an admin.',
      );
    }
    return this.users.create(input, actor);
  }

  /** Updates a user. Making an admin waits, and is asked for alone, because nothing is done until it is approved. */
  async updateUser(id: string, changes: UserChanges, actor: Actor): Promise<Outcome<UserEntity>> {
    const check = this.settings.fourEyes ? refuseNewAdmin : undefined;
    try {
      return { done: await this.users.update(id, changes, actor, check) };
    } catch (error) {
      if (!(error instanceof NeedsApproval)) throw error;
    }
    const others = Object.entries(changes).filter(
      ([name, value]) => value !== undefined && name !== 'role' && name !== 'operatorRole',
    );
    if (others.length > 0) {
      throw conflict('A second admin approves new admins: change the role alone, and the rest separately.');
    }
    return this.request('user.make_admin', id, actor);
  }

  /**
   * Carries it out. Throws a 403 problem for whoever asked for it, 409 for what is not pending, and 409 with the reason for what became
   * impossible: that stays pending.
   */
  async approve(id: string, actor: Actor): Promise<ApprovalEntity> {
    await this.get(id);
    return this.transactions.run(async (manager) => {
      // First, because everything that changes admins locks in this order.
      await this.users.requireAdmin(manager, actor);
      const by = partyOf(actor);
      const approval = await this.decide(manager, id, 'approved', by);
      if (approval.requestedByPerson === by.person) {
        throw forbidden('You asked for this yourself: another admin has to approve it.');
      }
      await this.record(manager, 'approval.approved', approval, actor);
      await this.carryOut(manager, approval, actor);
      return approval;
    });
  }

  /** Nothing is done. Also for whoever asked for it; throws a 409 problem for what is not pending. */
  async reject(id: string, actor: Actor): Promise<ApprovalEntity> {
    await this.get(id);
    return this.transactions.run(async (manager) => {
      await this.users.requireAdmin(manager, actor);
      const approval = await this.decide(manager, id, 'rejected', partyOf(actor));
      await this.record(manager, 'approval.rejected', approval, actor);
      return approval;
    });
  }

  private request(
    action: ApprovalAction,
    subjectId: string,
    actor: Actor,
  ): Promise<{ waiting: ApprovalEntity }> {
    return this.transactions.run(async (manager) => {
      const { approval, isNew } = await this.repository.request(manager, action, subjectId, partyOf(actor));
      if (isNew) await this.record(manager, 'approval.requested', approval, actor);
      return { waiting: approval };
    });
  }

  private async decide(
    manager: EntityManager,
    id: string,
    state: 'approved' | 'rejected',
    by: Party,
  ): Promise<ApprovalEntity> {
    const decided = await this.repository.decide(manager, id, state, by);
    if (decided) return decided;
    const found = (await this.repository.find(id, manager)) ?? this.missing();
    throw conflict(`This is not pending: it is ${stateOf(found)}.`);
  }

  private async carryOut(
    manager: EntityManager,
    { action, subjectId }: ApprovalEntity,
    actor: Actor,
  ): Promise<void> {
    try {
      if (action === 'user.erase') await this.users.eraseIn(manager, subjectId, actor);
      else if (action === 'user.make_admin') await this.users.makeAdminIn(manager, subjectId, actor);
      else await this.clients.deleteIn(manager, subjectId, actor);
    } catch (error) {
      if (error instanceof Problem && error.status === 404)
        throw conflict(`${error.detail} It may be gone: reject this.`);
      throw error;
    }
  }

  private record(
    manager: EntityManager,
    action: string,
    approval: ApprovalEntity,
    actor: Actor,
  ): Promise<void> {
    return this.audit.record(manager, actor, {
      action,
      subjectType: 'approval',
      subjectId: approval.id,
      after: { action: approval.action, subject_id: approval.subjectId },
    });
  }

  private missing(): never {
    throw notFound('There is no approval with this id.');
  }
}

/** Who asks or decides. The owner stands behind a client: nobody approves with a client what they asked for in the console. */
function partyOf({ type, id, ownerId }: Actor): Party {
  if (type === 'service' || id === null) throw new Error('Only a user or a client asks for an approval.');
  return { type, id, person: ownerId ?? id };
}

/** Ends the transaction of a change that has to wait. */
class NeedsApproval extends Error {}

const refuseNewAdmin: ChangeCheck = (before, after) => {
  if (before.operatorRole !== 'admin' && after.operatorRole === 'admin') throw new NeedsApproval();
};
