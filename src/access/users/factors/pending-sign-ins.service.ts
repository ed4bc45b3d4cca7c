import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '#records/audit/audit.service.js';
import { Cookies } from '#platform/http/server/cookies.js';
import { digestOf, isSecret, newSecret, sameDigest } from '#platform/secrets/tokens.js';
import type { UserEntity } from '../accounts/user.entity.js';
import { UsersRepository } from '../accounts/users.repository.js';
import { AuthenticatorAppsService } from './authenticator-apps.service.js';
import { isOneTimePassword } from './one-time-passwords.js';
import { PendingSignInsRepository } from './pending-sign-ins.repository.js';
import { RecoveryCodesService } from './recovery-codes.service.js';

const COOKIE = 'pending_sign_in';
// Contract §16.
const TTL_SECONDS = 600;

/** A sign-in whose password was right, in the browser that gave it. */
export interface PendingSignIn {
  digest: Buffer;
  /** Read with the password hash. */
  user: UserEntity;
}

/** The step between the password and the second factor: bound to the browser, for ten minutes, for one sign-in. */
@Injectable()
export class PendingSignInsService {
  constructor(
    private readonly cookies: Cookies,
    private readonly repository: PendingSignInsRepository,
    private readonly users: UsersRepository,
    private readonly apps: AuthenticatorAppsService,
    private readonly recoveryCodes: RecoveryCodesService,
  ) {}

  /**
   * Stores that this browser gave the right password. `user` is read with the password hash. False if the user was disabled, or got
   * another password or email, since then.
   */
  async begin(reply: FastifyReply, user: UserEntity): Promise<boolean> {
    const secret = newSecret('pendingSignIn');
    if (!(await this.repository.insert(digestOf(secret), user, markOf(user), TTL_SECONDS))) return false;
    this.cookies.set(reply, COOKIE, secret, TTL_SECONDS);
    return true;
  }

  /** The pending sign-in of this browser, unless the account has another password or email address by now. */
  async find(request: FastifyRequest): Promise<PendingSignIn | undefined> {
    const digest = this.digestIn(request);
    const found = digest && (await this.repository.find(digest));
    const user = found && (await this.users.findByIdWithPassword(found.userId));
    return user?.enabled && sameDigest(markOf(user), found!.accountMark)
      ? { digest: found!.digest, user }
      : undefined;
  }

  /** Uses up the code and the pending sign-in, in the transaction that starts the session; false if one of them is not right. */
  proofOf({ digest, user }: PendingSignIn, code: string, actor: Actor): () => Promise<boolean> {
    const typed = code.replace(/\s/g, '');
    return async () => {
      const isRight = isOneTimePassword(typed)
        ? await this.apps.use(user.id, typed)
        : await this.recoveryCodes.use(user.id, typed, actor);
      return isRight && this.repository.use(digest);
    };
  }

  /** Forgets the pending sign-in of this browser, which has logged in. */
  async end(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const digest = this.digestIn(request);
    if (!digest) return;
    this.cookies.clear(reply, COOKIE);
    await this.repository.delete(digest);
  }

  private digestIn(request: FastifyRequest): Buffer | undefined {
    const secret = this.cookies.get(request, COOKIE);
    return secret && isSecret('pendingSignIn', secret) ? digestOf(secret) : undefined;
  }
}

const markOf = ({ passwordHash, email }: UserEntity): Buffer =>
  createHash('sha256').update(`${passwordHash} ${email}`).digest();
