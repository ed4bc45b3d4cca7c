import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { OnDomainEvent, Answers } from '#platform/database/domain/domain-map.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict, forbidden, notFound, Problem } from '#platform/http/problems/problem.js';
import { detailWithReasons } from '#platform/http/problems/render-problem.js';
import { hashPassword } from '#platform/secrets/passwords.js';
import { isId } from '#platform/secrets/ids.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import { ActorsService } from '#access/users/sessions/actors.service.js';
import {
  ActionServices,
  actionOf,
  PASSWORD_HASH,
  type ApprovalAction,
  type ShownOnApproval,
  ADMIN_ACTIONS,
} from '#entrypoints/admin/actions/admin-actions.js';
import {
  personBehind,
  stateOf,
  type ApprovalDetails,
  type ApprovalEntity,
  type ApprovalState,
  shownDetails,
} from './approval.entity.js';
import { ApprovalsRepository, type Party } from './approvals.repository.js';
import { say } from '#platform/language/text.js';
import { OwnWords } from '#access/users/accounts/own-words.js';
import { recordOf, section } from '#access/users/accounts/personal-data.js';

/**
 * The result of an approval: the action was carried out, and may have created something that is shown once; or one more admin has
 * to approve.
 */
export interface Approved {
  approval: ApprovalEntity;
  shown?: ShownOnApproval;
}

/** What someone asks for. */
interface Asked {
  action: ApprovalAction;
  subjectId: string;
  details: object | null;
}

const STATE_WORDS: Record<ApprovalState, string> = {
  pending: say('Not decided yet'),
  approved: say('Approved'),
  rejected: say('Rejected'),
  expired: say('Not decided in time'),
};

/**
 * Requests that wait for a second admin (contract §17). The approval and the approved action are one transaction, so a crash
 * leaves neither without the other, and the first of two concurrent decisions counts.
 */
@Injectable()
export class ApprovalsService {
  constructor(
    private readonly repository: ApprovalsRepository,
    private readonly services: ActionServices,
    private readonly protection: OperatorProtectionService,
    private readonly actors: ActorsService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  @OnDomainEvent('user.erased', 7)
  forget(userId: string): Promise<void> {
    return this.repository.forgetDetails(userId);
  }

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

  /**
   * Stores a request; returns the pending one if the same is requested again. Throws a 409 problem if the same action waits with
   * other details. Of a password, only the hash is kept.
   */
  async request({ action, subjectId, details }: Asked, actor: Actor): Promise<ApprovalEntity> {
    const { password, ...rest } = (details ?? {}) as { password?: string };
    const hashed = password !== undefined && { ...rest, [PASSWORD_HASH]: await hashPassword(password) };
    const asked = { action, subjectId, details: (hashed || details) as ApprovalDetails | null, password };
    return this.transactions.run(async () => {
      const { approval, isNew, isSame } = await this.repository.request(asked, partyOf(actor));
      if (!isSame)
        throw conflict(`Something else of this kind waits already: ${approval.id}. Reject that first.`);
      if (isNew) await this.record('approval.requested', approval, actor);
      return approval;
    });
  }

  /**
   * Carries it out. Only a person approves, in a session with a second factor or from a provider. Anyone may hold the secret of a
   * client, so an admin must first take responsibility for a client's request: that is all that the first approval does. Throws a
   * 403 problem for the person who asked for it, 409 for what is not pending, and 409 with the reason for what became impossible:
   * that stays pending.
   */
  async approve(id: string, actor: Actor): Promise<Approved> {
    if (actor.type !== 'user') throw forbidden('Only a person approves, in the console.');
    await this.get(id);
    return this.transactions.run(async () => {
      // Locked first, in the order of everything that changes admins.
      await this.protection.requireAdmin(actor);
      await this.actors.requireSecondFactor(actor);
      const by = partyOf(actor);
      const seconded = await this.repository.second(id, by.person);
      if (seconded) {
        await this.requireAsking(seconded);
        await this.record('approval.seconded', seconded, actor);
        return { approval: seconded };
      }
      const { details } = (await this.repository.lock(id)) ?? this.missing();
      const approval = await this.decide(id, 'approved', by);
      if (personBehind(approval) === by.person) {
        throw forbidden('You asked for this yourself: another admin has to approve it.');
      }
      await this.requireAsking(approval);
      await this.record('approval.approved', approval, actor);
      const shown = await this.carryOut({ ...approval, details }, actor);
      return { approval, shown };
    });
  }

  /** Rejects a request, also for the person who made it; throws a 409 problem if it is not pending. */
  async reject(id: string, actor: Actor): Promise<ApprovalEntity> {
    await this.get(id);
    return this.transactions.run(async () => {
      await this.protection.requireAdmin(actor);
      const approval = await this.decide(id, 'rejected', partyOf(actor));
      await this.record('approval.rejected', approval, actor);
      return approval;
    });
  }

  /** Throws a 409 problem if the person who made the request, or is responsible for it, is no longer an admin. */
  private async requireAsking(approval: ApprovalEntity): Promise<void> {
    const { requestedByType: type, requestedById: id, secondedBy } = approval;
    const isStill = (each: Pick<Actor, 'type' | 'id'>) => this.protection.isStillAdmin(each);
    if (
      !(await isStill({ type, id })) ||
      (secondedBy && !(await isStill({ type: 'user', id: secondedBy })))
    ) {
      throw conflict('The person who asked for this is no longer an admin: reject it.');
    }
  }

  private async decide(id: string, state: 'approved' | 'rejected', by: Party): Promise<ApprovalEntity> {
    const decided = await this.repository.decide(id, state, by);
    if (decided) return decided;
    const found = (await this.repository.find(id)) ?? this.missing();
    throw conflict(`This is not pending: it is ${stateOf(found)}.`);
  }

  private async carryOut(
    { action, subjectId, details }: ApprovalEntity,
    actor: Actor,
  ): Promise<ShownOnApproval | undefined> {
    const { work, shown } = actionOf(action);
    try {
      const call = { id: subjectId, input: details ?? {}, actor };
      const result = await work(this.services, call, async () => {});
      return shown?.(result);
    } catch (error) {
      if (!(error instanceof Problem) || ![400, 404].includes(error.status)) throw error;
      throw conflict(`${detailWithReasons(error)} It may be gone: reject this.`);
    }
  }

  private record(action: string, approval: ApprovalEntity, actor: Actor): Promise<void> {
    return this.audit.record(actor, {
      action,
      subjectType: 'approval',
      subjectId: approval.id,
      after: { action: approval.action, subject_id: approval.subjectId },
    });
  }

  private missing(): never {
    throw notFound('There is no approval with this id.');
  }

  @Answers('user.personal_data')
  approvalsOf() {
    return section({
      name: 'approvals',
      place: 95,
      title: say('Approvals'),
      about: say('What admins wanted to do with your account, and what you asked for or decided as one.'),
      read: async (userId: string, limit: number) => {
        const found = await this.repository.listOf(userId, limit);
        return found.map((approval) => ({
          ...recordOf(approval, 'id', 'action', 'subjectId', 'requestedAt', 'decidedAt'),
          // Details about other people are theirs.
          details: approval.subjectId === userId ? shownDetails(approval) : null,
          state: stateOf(approval),
        }));
      },
      columns: {
        [say('What')]: ({ action }) => new OwnWords(ADMIN_ACTIONS[action].words),
        [say('State')]: ({ state }) => new OwnWords(STATE_WORDS[state]),
        [say('Asked')]: ({ requested_at: at }) => at,
        [say('Decided')]: ({ decided_at: at }) => at,
      },
    });
  }
}

/** Who requests or decides; for a client, its owner. */
function partyOf({ type, id, ownerId }: Actor): Party {
  if (type === 'service' || id === null) throw new Error('Only a user or a client asks for an approval.');
  return { type, id, person: ownerId ?? id };
}
