import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { readPage, type Page, type PageRequest } from '#platform/database/queries/read-page.js';
import { asStoredJson } from '#platform/database/queries/input-rows.js';
import { newId } from '#platform/secrets/ids.js';
import { verifyPassword } from '#platform/secrets/passwords.js';
import { PASSWORD_HASH, type ApprovalAction } from '#entrypoints/admin/actions/admin-actions.js';
import { ApprovalEntity, type ApprovalDetails, type ApprovalState } from './approval.entity.js';

const PENDING = "approval.state = 'pending' AND approval.expiresAt > now()";
const OVERDUE = "approval.state = 'pending' AND approval.expiresAt <= now()";
// Contract §17.
const EXPIRES_AFTER = "interval '7 days'";

/** Who requests or decides; the person is the user, or the owner of the client. */
export interface Party {
  type: 'user' | 'client';
  id: string;
  person: string;
}

/** What someone asks for. */
export interface Asked {
  action: ApprovalAction;
  subjectId: string;
  details: ApprovalDetails | null;
  /** Whose hash the details have: each hash of a password is another one. */
  password?: string;
}

/** Whether what is pending has these details, with a hash of this password if there is one. */
async function isSame(
  pending: ApprovalDetails | null,
  asked: ApprovalDetails | null,
  password: string | undefined,
): Promise<boolean> {
  if (password === undefined) return isDeepStrictEqual(pending, asStoredJson(asked));
  const withoutHash = (details: object | null) => ({ ...details, [PASSWORD_HASH]: undefined });
  if (!isDeepStrictEqual(withoutHash(pending), withoutHash(asStoredJson(asked) as object))) return false;
  return verifyPassword(pending?.[PASSWORD_HASH] as string | undefined, password);
}

@Injectable()
export class ApprovalsRepository {
  constructor(@InjectRepository(ApprovalEntity) private readonly approvals: Repository<ApprovalEntity>) {}

  /** Newest first. Requests that nobody decided in time are expired, by the database's clock. */
  list(state: ApprovalState | undefined, page: PageRequest): Promise<Page<ApprovalEntity>> {
    const query = this.approvals.createQueryBuilder('approval');
    if (state === 'expired') query.where(`(approval.state = 'expired' OR (${OVERDUE}))`);
    else if (state === 'pending') query.where(PENDING);
    else if (state !== undefined) query.where('approval.state = :state', { state });
    return readPage(page, 'approval.id', 'desc', query);
  }

  /** The requests about a person or by them, newest first, up to a limit. */
  listOf(userId: string, limit: number): Promise<ApprovalEntity[]> {
    return this.approvals.find({
      where: [
        { subjectId: userId },
        { requestedByPerson: userId },
        { secondedBy: userId },
        { decidedById: userId },
      ],
      order: { id: 'DESC' },
      take: limit,
    });
  }

  find(id: string): Promise<ApprovalEntity | null> {
    return this.approvals.findOneBy({ id });
  }

  countPending(): Promise<number> {
    return this.approvals.createQueryBuilder('approval').where(PENDING).getCount();
  }

  /**
   * The pending approval for this, and whether it is new: at most one is pending, even if several people ask at the same moment. `isSame`: whether it
   * has these details.
   */
  async request(
    { action, subjectId, details, password }: Asked,
    by: Party,
  ): Promise<{ approval: ApprovalEntity; isNew: boolean; isSame: boolean }> {
    const approvals = this.approvals;
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
    // In SQL, because the conflict is with the partial index over pending requests. If the row is decided in the meantime, a new
    // one is inserted.
    for (;;) {
      const made: unknown[] = await this.approvals.manager.query(
        `INSERT INTO approvals (id, action, subject_id, details, requested_by_type, requested_by_id, requested_by_person, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, now() + ${EXPIRES_AFTER})
         ON CONFLICT (action, subject_id) WHERE state = 'pending' DO NOTHING RETURNING 1`,
        [id, action, subjectId, details && JSON.stringify(details), by.type, by.id, by.person],
      );
      if (made.length === 1) {
        return { approval: (await approvals.findOneBy({ id }))!, isNew: true, isSame: true };
      }
      const pending = await approvals.findOneBy({ action, subjectId, state: 'pending' });
      if (pending) {
        return {
          approval: pending,
          isNew: false,
          isSame: await isSame(pending.details, details, password),
        };
      }
    }
  }

  /** Reads an approval and locks it until the transaction ends, with all its details. */
  lock(id: string): Promise<ApprovalEntity | null> {
    return this.approvals.findOne({ where: { id }, lock: { mode: 'for_no_key_update' } });
  }

  /**
   * Records once who takes responsibility for a client's request; undefined if it is not pending, does not need anyone, or
   * already has someone.
   */
  async second(id: string, person: string): Promise<ApprovalEntity | undefined> {
    const approvals = this.approvals;
    const { affected } = await approvals
      .createQueryBuilder()
      .update()
      .set({ secondedBy: person, secondedAt: () => 'now()' })
      .where(
        "id = :id AND state = 'pending' AND expiresAt > now() AND requestedByType = 'client' AND secondedBy IS NULL",
        { id },
      )
      .execute();
    return affected === 1 ? ((await approvals.findOneBy({ id })) ?? undefined) : undefined;
  }

  /** Removes the passwords of requests that nobody decided in time; returns from how many. */
  async forgetPasswords(): Promise<number> {
    const { affected } = await this.approvals
      .createQueryBuilder()
      .update()
      .set({ details: () => `details - '${PASSWORD_HASH}'` })
      .where(`expiresAt <= now() AND jsonb_exists(details, '${PASSWORD_HASH}')`)
      .execute();
    return affected ?? 0;
  }

  /** Removes the requests about an erased person. */
  async forgetDetails(subjectId: string): Promise<void> {
    await this.approvals.update({ subjectId }, { details: null });
  }

  /** Decides a pending request once, and removes a password from it; undefined if it is not pending. */
  async decide(id: string, state: 'approved' | 'rejected', by: Party): Promise<ApprovalEntity | undefined> {
    const approvals = this.approvals;
    const { affected } = await approvals
      .createQueryBuilder()
      .update()
      .set({
        state,
        decidedByType: by.type,
        decidedById: by.id,
        decidedAt: () => 'now()',
        details: () => `details - '${PASSWORD_HASH}'`,
      })
      .where("id = :id AND state = 'pending' AND expiresAt > now()", { id })
      .execute();
    return affected === 1 ? ((await approvals.findOneBy({ id })) ?? undefined) : undefined;
  }
}
