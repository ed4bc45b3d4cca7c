import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Actor } from '../../audit/audit.service.js';
import { forbidden } from '../../http/problems/problem.js';
import { NoLongerSignedIn } from '../../http/page-routes/no-longer-signed-in.js';
import { SessionsRepository } from './sessions.repository.js';

export const SECOND_FACTOR_NEEDED =
  'This needs a session in which you gave a second factor, or that an identity provider began. Set up a passkey or an authenticator app under “Security” of your account, and log in with it.';

/** Checks the session in which a user makes a change. */
@Injectable()
export class ActingSessionsService {
  constructor(private readonly sessions: SessionsRepository) {}

  /**
   * Throws `NoLongerSignedIn` if the actor's session has ended since the request was admitted. Call it while holding the lock
   * that the change waited for. A login or confirmation in the same browser takes its locks in the opposite order; PostgreSQL
   * then cancels one of the two, which is repeated.
   */
  async requireLive(manager: EntityManager, { sessionDigest }: Pick<Actor, 'sessionDigest'>): Promise<void> {
    if (sessionDigest && !(await this.sessions.hold(manager, sessionDigest))) throw new NoLongerSignedIn();
  }

  /** Throws a 403 problem unless the actor's session has a second factor or came from a provider. */
  async requireSecondFactor(
    manager: EntityManager,
    { sessionDigest }: Pick<Actor, 'sessionDigest'>,
  ): Promise<void> {
    if (sessionDigest && (await this.sessions.holdWithFactor(manager, sessionDigest))) return;
    throw forbidden(SECOND_FACTOR_NEEDED);
  }
}
