import { Injectable } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import { roleIncludes, roleNeeded, type OperatorRole } from '#platform/config/operator-role.js';
import { forbidden, roleTooLow } from '#platform/http/problems/problem.js';
import { NoLongerSignedIn } from '#platform/http/page-routes/page-answer.js';
import { DomainQuestions } from '#platform/database/domain/domain-questions.service.js';
import { SessionsRepository } from './sessions.repository.js';

export const SECOND_FACTOR_NEEDED =
  'This needs a session in which you gave a second factor, or that an identity provider began. Set up a passkey or an authenticator app under “Security” of your account, and log in with it.';

/** What a change was admitted by. */
export type ActingIn = Partial<Pick<Actor, 'type' | 'id' | 'sessionDigest'>> & {
  operatorRole?: OperatorRole | null;
};

/** Checks again, under the lock that a change waited for, by what its actor was admitted: a session, or a client with a role. */
@Injectable()
export class ActorsService {
  constructor(
    private readonly sessions: SessionsRepository,
    private readonly questions: DomainQuestions,
  ) {}

  /**
   * Throws `NoLongerSignedIn` if the actor's session has ended since the request was admitted, and a 403 problem if the acting
   * client has no longer the operator role that it had then. Call it while holding the lock that the change waited for. A login or
   * confirmation in the same browser takes its locks in the opposite order; PostgreSQL then cancels one of the two, which is repeated.
   */
  async requireLive({ type, id, sessionDigest, operatorRole }: ActingIn): Promise<void> {
    if (sessionDigest && !(await this.sessions.hold(sessionDigest))) throw new NoLongerSignedIn();
    if (type !== 'client' || !id || !operatorRole) return;
    const role = await this.questions.ask('client.operator_role', id);
    if (!roleIncludes(role, operatorRole)) throw roleTooLow(roleNeeded(operatorRole));
  }

  /** Throws a 403 problem unless the actor's session has a second factor or came from a provider. */
  async requireSecondFactor({ sessionDigest }: Pick<Actor, 'sessionDigest'>): Promise<void> {
    if (sessionDigest && (await this.sessions.holdWithFactor(sessionDigest))) return;
    throw forbidden(SECOND_FACTOR_NEEDED);
  }
}
