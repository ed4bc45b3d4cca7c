import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AuditService, type Actor } from '../audit/audit.service.js';
import { Settings } from '../config/settings.js';
import { Transactions } from '../database/transactions.js';
import { Cookies } from '../http/cookies.js';
import { MESSAGES } from '../notifications/message-catalogue.js';
import { NotificationsService } from '../notifications/notifications.service.js';
import { digestOf, isSecret, newSecret } from '../secrets/tokens.js';
import { verifyPassword } from '../secrets/passwords.js';
import { SessionsRepository, type SignedInUser } from './sessions.repository.js';
import type { UserEntity } from './user.entity.js';
import { UsersRepository } from './users.repository.js';

const COOKIE = 'session';

/** Signing in and out in a browser: the session's id lives in a cookie, its digest in the database. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly cookies: Cookies,
    private readonly settings: Settings,
    private readonly sessions: SessionsRepository,
    private readonly users: UsersRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly notifications: NotificationsService,
  ) {}

  /** Who is signed in in this browser, if anybody. */
  async current(request: FastifyRequest): Promise<SignedInUser | undefined> {
    const digest = this.digestIn(request);
    return digest ? this.sessions.find(digest) : undefined;
  }

  /**
   * Signs in with e-mail address and password, under a new session id; undefined where that is refused. An unknown
   * address costs the same work as a wrong password.
   */
  async signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    email: string,
    password: string,
    actor: Actor,
    isNewBrowser: boolean,
  ): Promise<UserEntity | undefined> {
    const user = await this.users.findByEmailWithPassword(email);
    const right = await verifyPassword(user?.passwordHash, password);
    if (!user || !right || !user.enabled) {
      await this.recordRefusal(user, actor);
      return undefined;
    }
    const secret = newSecret('session');
    const started = await this.transactions.run(async (manager) => {
      const previous = this.digestIn(request);
      if (previous) await this.sessions.delete(manager, previous);
      // Once more under a lock: the password may have been changed while it was being compared.
      const unchanged = await this.sessions.insert(manager, digestOf(secret), user, {
        ttl: this.settings.sessionTtl,
        address: actor.address ?? null,
        userAgent: request.headers['user-agent']?.slice(0, 500) ?? null,
      });
      if (!unchanged) return false;
      await this.audit.record(
        manager,
        { ...actor, type: 'user', id: user.id },
        { action: 'session.started', subjectType: 'session', subjectId: user.id },
      );
      if (isNewBrowser) {
        await this.notifications.raise(
          manager,
          user.id,
          null,
          MESSAGES.newSignIn(actor.address ?? 'unknown'),
        );
      }
      return true;
    });
    if (!started) return undefined;
    this.cookies.set(reply, COOKIE, secret, this.settings.sessionTtl);
    return user;
  }

  /** Signs this browser out; nobody being signed in is fine too. */
  async signOut(request: FastifyRequest, reply: FastifyReply, actor: Actor): Promise<void> {
    const digest = this.digestIn(request);
    this.cookies.clear(reply, COOKIE);
    if (!digest) return;
    await this.transactions.run(async (manager) => {
      const userId = await this.sessions.delete(manager, digest);
      if (!userId) return;
      await this.audit.record(
        manager,
        { ...actor, type: 'user', id: userId },
        {
          action: 'session.ended',
          subjectType: 'session',
          subjectId: userId,
        },
      );
    });
  }

  private digestIn(request: FastifyRequest): Buffer | undefined {
    const secret = this.cookies.get(request, COOKIE);
    return secret && isSecret('session', secret) ? digestOf(secret) : undefined;
  }

  /** For nobody's address as for somebody's: the work, and so the time, is the same. */
  private async recordRefusal(user: UserEntity | null, actor: Actor): Promise<void> {
    await this.transactions.run((manager) =>
      this.audit.record(manager, actor, {
        action: 'session.refused',
        subjectType: 'session',
        subjectId: user?.id ?? 'unknown',
      }),
    );
  }
}
