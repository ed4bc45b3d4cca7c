import { Injectable } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { conflict } from '#platform/http/problems/problem.js';
import type { NewUser } from '#access/users/accounts/user.resource.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import {
  ActionServices,
  actionOf,
  type ApprovalAction,
  type InputOf,
  type Need,
  type ResultOf,
} from './admin-actions.js';
import type { ApprovalEntity } from './approval.entity.js';
import { ApprovalsService } from './approvals.service.js';

/** The result of an action: done, or waiting for a second admin. */
export type Outcome<T = void> = { done: T; waiting?: undefined } | { waiting: ApprovalEntity };

/**
 * The actions that need two admins with `FOUR_EYES=true` (contract §17); without it, they are done at once. Each action runs
 * normally, and is rolled back if it has to wait. So it is validated now, and whether it waits is decided under its locks.
 */
@Injectable()
export class FourEyes {
  constructor(
    private readonly approvals: ApprovalsService,
    private readonly services: ActionServices,
    private readonly settings: Settings,
  ) {}

  /** Runs the action, or asks a second admin for it. `once`: the result is undefined if that was posted before. */
  async run<A extends ApprovalAction>(
    action: A,
    id: string,
    input: InputOf<A>,
    actor: Actor,
    once?: string,
  ): Promise<Outcome<ResultOf<A>>> {
    const row = actionOf(action);
    const call = { id, input, actor, once };
    const check = async (...before: unknown[]): Promise<void> => {
      const need = this.settings.fourEyes && (await row.needs(this.services, call, ...before));
      if (need) throw new NeedsApproval(need);
    };
    try {
      return { done: await row.work(this.services, call, check) };
    } catch (error) {
      if (!(error instanceof NeedsApproval)) throw error;
      const asked = { action, subjectId: id, ...error.need };
      return { waiting: await this.approvals.request(asked, actor) };
    }
  }

  /** Creates a user. Throws a 409 problem for a new admin if a second admin would have to approve: the user must exist first. */
  async createUser(input: NewUser, actor: Actor): Promise<UserEntity> {
    if (this.settings.fourEyes && input.role === 'operator' && (input.operatorRole ?? 'admin') === 'admin') {
      throw conflict(
        'A second admin approves new admins: create the user first, then make the user an admin.',
      );
    }
    return this.services.users.create(input, actor);
  }
}

/** Rolls back a change that has to wait. */
class NeedsApproval extends Error {
  constructor(readonly need: Need) {
    super();
  }
}
