import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, type EntityManager } from 'typeorm';
import { readPage, type Page, type PageRequest } from '../../database/queries/read-page.js';
import { newId } from '../../secrets/ids.js';
import { ApprovalEntity, type ApprovalAction, type ApprovalState } from './approval.entity.js';

const PENDING = "approval.state = 'pending' AND approval.expiresAt > now()";
const OVERDUE = "approval.state = 'pending' AND approval.expiresAt <= now()";
// Contract §17.
const EXPIRES_AFTER = "interval '7 days'";

/** Who asks or decides; the person is the user, or the owner of the client. */
export interface Party {
  type: 'user' | 'client';
  id: string;
  person: string;
}

@Injectable()
export class ApprovalsRepository {
  constructor(@InjectRepository(ApprovalEntity) private readonly approvals: Repository<ApprovalEntity>) {}

  /** Newest first. What nobody decided in time is expired, from the moment that the database says so. */
  list(state: ApprovalState | undefined, page: PageRequest): Promise<Page<ApprovalEntity>> {
    const query = this.approvals.createQueryBuilder('approval');
    if (state === 'expired') query.where(`(approval.state = 'expired' OR (${OVERDUE}))`);
    else if (state === 'pending') query.where(PENDING);
    else if (state !== undefined) query.where('approval.state = :state', { state });
    return readPage(page, 'approval.id', 'desc', query);
  }

  find(id: string, manager: EntityManager = this.approvals.manager): Promise<ApprovalEntity | null> {
    return manager.withRepository(this.approvals).findOneBy({ id });
  }

  countPending(): Promise<number> {
    return this.approvals.createQueryBuilder('approval').where(PENDING).getCount();
  }

  /** The pending approval for this, and whether it is new: at most one is pending, whoever asks at the same moment. */
  async request(
    manager: EntityManager,
    action: ApprovalAction,
    subjectId: string,
    by: Party,
  ): Promise<{ approval: ApprovalEntity; isNew: boolean }> {
    const approvals = manager.withRepository(this.approvals);
    await approvals
      .createQueryBuilder()
      .update()
      .set({ state: 'expired' })
      .where("action = :action AND subjectId = :subjectId AND state = 'pending' AND expiresAt <= now()", {
        action,
        subjectId,
      })
      .execute();
    const id = newId('appr');
    // By hand: the conflict is with the partial index over what is pending. If the row is decided meanwhile, a new one is made.
    for (;;) {
      const made: unknown[] = await manager.query(
        `INSERT INTO approvals (id, action, subject_id, requested_by_type, requested_by_id, requested_by_person, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, now() + ${EXPIRES_AFTER})
         ON CONFLICT (action, subject_id) WHERE state = 'pending' DO NOTHING RETURNING 1`,
        [id, action, subjectId, by.type, by.id, by.person],
      );
      if (made.length === 1) return { approval: (await approvals.findOneBy({ id }))!, isNew: true };
      const pending = await approvals.findOneBy({ action, subjectId, state: 'pending' });
      if (pending) return { approval: pending, isNew: false };
    }
  }

  /** Decides what is pending, once; undefined if it is not, or no longer. */
  async decide(
    manager: EntityManager,
    id: string,
    state: 'approved' | 'rejected',
    by: Party,
  ): Promise<ApprovalEntity | undefined> {
    const approvals = manager.withRepository(this.approvals);
    const { affected } = await approvals
      .createQueryBuilder()
      .update()
      .set({ state, decidedByType: by.type, decidedById: by.id, decidedAt: () => 'now()' })
      .where("id = :id AND state = 'pending' AND expiresAt > now()", { id })
      .execute();
    return affected === 1 ? ((await approvals.findOneBy({ id })) ?? undefined) : undefined;
  }
}
