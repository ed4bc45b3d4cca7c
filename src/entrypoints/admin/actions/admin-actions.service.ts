import { Injectable } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { DomainQuestions } from '#platform/database/domain/domain-questions.service.js';
import type { Waiting } from '#access/domain/domain-questions.js';
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

/** The result of an action: done, or waiting for a second admin. */
export type Outcome<T = void> = { done: T; waiting?: undefined } | { waiting: Waiting };

/**
 * What admins do, for the admin API and the console. With `FOUR_EYES=true` some of it needs two admins (contract §17): an action runs
 * normally, and is rolled back if it has to wait. So it is validated now, and whether it waits is decided under its locks.
 */
@Injectable()
export class AdminActions {
  constructor(
    private readonly services: ActionServices,
    private readonly questions: DomainQuestions,
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
      const [waiting] = this.questions.askAll('admin.second_admin', asked, actor);
      if (!waiting) throw conflict('This needs a second admin, and nobody can be asked.');
      return { waiting: await waiting };
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
