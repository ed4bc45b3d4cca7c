import { say } from '#platform/language/text.js';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActivityService } from '#records/activity/activity.service.js';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { OnDomainEvent } from '#platform/database/domain/domain-map.js';
import type { PersonTraces } from '#access/domain/domain-events.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { Cookies } from '#platform/http/server/cookies.js';
import { readAs } from '#platform/http/server/request-language.js';
import { SessionLimits } from '#platform/http/guards/session-limits.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { notFound } from '#platform/http/problems/problem.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { isId } from '#platform/secrets/ids.js';
import { digestOf, isSecret, newSecret } from '#platform/secrets/tokens.js';
import { verifyPassword } from '#platform/secrets/passwords.js';
import { SessionsRepository, type SessionDetails } from './sessions.repository.js';
import type { SessionView, SignInMethod } from './session.entity.js';
import type { SignedInUser } from './signed-in-user.js';
import type { UserEntity } from '../accounts/user.entity.js';
import { UsersRepository } from '../accounts/users.repository.js';

const COOKIE = 'session';
const USER_AGENT_MAX = 300;
/** Whether a page made the request by itself (`live-list.js`): by a header or, for a stream, by the type that it accepts. */
const isUnattended = ({ headers }: FastifyRequest): boolean =>
  headers['x-unattended'] !== undefined || headers.accept === 'text/event-stream';

/** Rolls back the transaction of a login that is refused in it. */
class Refused extends Error {}

/** Login and logout in a browser: the session's id is stored in a cookie, its digest in the database. */
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
    private readonly activity: ActivityService,
    private readonly limits: SessionLimits,
  ) {}

  @OnDomainEvent('user.erased', 4)
  forget(_userId: string, { addresses }: PersonTraces): Promise<void> {
    return this.activity.forgetAddresses(addresses);
  }

  /** The user logged in in this browser, if any. The request is counted for the account; throws a 429 problem over the limit (contract §7). */
  async current(request: FastifyRequest): Promise<SignedInUser | undefined> {
    const digest = this.digestIn(request);
    const found = digest && (await this.sessions.find(digest));
    if (found) await this.limits.countFound(request, digest, `user ${found.user.id}`);
    // A page that polls by itself does not prove that anyone is using it.
    if (found?.seenLongAgo && !isUnattended(request)) {
      await this.sessions.touch(digest!);
    }
    const chosen = found && readAs(request, found.user.language);
    if (chosen) await this.users.setLanguage(found.user.id, chosen);
    return found?.user;
  }

  /**
   * The user with this email and password, or undefined if they are refused. A refusal calls `onWrong`, is counted, and is recorded if
   * the email is known. An unknown email costs the same work as a wrong password.
   */
  async checkPassword(
    email: string,
    password: string,
    actor: Actor,
    onWrong: () => void,
  ): Promise<UserEntity | undefined> {
    const user = await this.users.findByEmailWithPassword(email);
    const right = await verifyPassword(user?.passwordHash, password);
    if (user && right && user.enabled) return user;
    onWrong();
    await this.refuse(user?.id, 'password', actor);
    return undefined;
  }

  /**
   * Logs in under a new session id. `user` is read with its password hash. False if the user was disabled, or got another password or
   * email, since then, or if `prove`, which runs in the same transaction, returns false; then nothing is changed.
   */
  async start(
    request: FastifyRequest,
    reply: FastifyReply,
    user: UserEntity,
    signIn: SignInMethod,
    actor: Actor,
    isNewBrowser: boolean,
    prove: () => Promise<boolean> = () => Promise.resolve(true),
  ): Promise<boolean> {
    const work = async (): Promise<string> => {
      const proven = await prove();
      const secret = proven && (await this.startWithoutCookie(request, user, signIn, actor, isNewBrowser));
      if (!secret) throw new Refused();
      return secret;
    };
    const secret = await this.transactions.run(work).catch((error: unknown) => {
      if (error instanceof Refused) return undefined;
      throw error;
    });
    if (secret === undefined) await this.recordRefusal(user.id, actor);
    this.countSignIn(secret ? 'sign_in' : 'sign_in_refused', signIn.method, actor);
    if (secret) this.setCookie(reply, secret);
    return secret !== undefined;
  }

  /** The same within a transaction. Returns the new secret, for the cookie after the commit, or undefined; counts nothing. */
  async startWithoutCookie(
    request: FastifyRequest,
    user: UserEntity,
    signIn: SignInMethod,
    actor: Actor,
    isNewBrowser: boolean,
  ): Promise<string | undefined> {
    const secret = newSecret('session');
    const previous = this.digestIn(request);
    const ended = previous && (await this.sessions.delete(previous));
    // A user who was logged in already keeps the same login, which ends when it would have ended.
    const login =
      ended?.userId === user.id && ended.loginId !== null
        ? { loginId: ended.loginId, endsAt: ended.endsAt }
        : {};
    // Checked again under a lock: the password may have been changed while it was being verified.
    const details = { ...this.detailsOf(request, actor, signIn), ...login };
    const unchanged = await this.sessions.insert(digestOf(secret), user, details);
    if (!unchanged) return undefined;
    await this.audit.record(
      { ...actor, type: 'user', id: user.id },
      { action: 'session.started', subjectId: user.id },
    );
    if (isNewBrowser) {
      const message = MESSAGES.newSignIn(actor.address ?? 'unknown');
      await this.notifications.raise(user.id, null, message, actor);
    }
    return secret;
  }

  /** Logs out this browser; does nothing if nobody is logged in. Returns how the session was started. */
  async signOut(
    request: FastifyRequest,
    reply: FastifyReply,
    actor: Actor,
  ): Promise<SignInMethod | undefined> {
    const digest = this.digestIn(request);
    this.cookies.clear(reply, COOKIE);
    if (!digest) return undefined;
    return this.transactions.run(async () => {
      const ended = await this.sessions.delete(digest);
      if (!ended) return undefined;
      const { userId, signIn } = ended;
      await this.audit.record(
        { ...actor, type: 'user', id: userId },
        { action: 'session.ended', subjectId: userId },
      );
      return signIn;
    });
  }

  /** Ends the sessions that came from a provider, which may have several ids, for one session or person there, in the caller's transaction. */
  async endByProvider(
    providers: string[],
    of: { sid?: string; subject?: string },
    actor: Actor,
  ): Promise<void> {
    await this.sessions.lockUsersOfProvider(providers, of);
    for (const { userId, provider } of await this.sessions.deleteByProvider(providers, of)) {
      await this.audit.record(actor, {
        action: 'session.ended',
        subjectId: userId,
        before: { provider },
      });
    }
  }

  /** The browser's own session, and one page of the user's others, newest first. */
  async list(
    user: SignedInUser,
    page: PageRequest,
  ): Promise<{ present: SessionView | undefined; others: Page<SessionView> }> {
    const [present, others] = await Promise.all([
      this.sessions.view(user.sessionDigest),
      this.sessions.listOthers(user.id, user.sessionDigest, page),
    ]);
    return { present, others };
  }

  /** Logs out one of the user's sessions; throws a 404 problem for a session that is not the user's or has ended. */
  async end(user: SignedInUser, id: string, actor: Actor): Promise<void> {
    const ended =
      isId('sess', id) &&
      (await this.transactions.run(async () => {
        if (!(await this.sessions.deleteOne(user.id, id))) return false;
        await this.audit.record(actor, {
          action: 'session.ended',
          subjectId: user.id,
          before: { id },
        });
        return true;
      }));
    if (!ended) throw notFound(say('There is no such session. It may have ended already.'));
  }

  /** Logs out all other sessions of the user; returns how many ended. */
  endOthers(user: SignedInUser, actor: Actor): Promise<number> {
    return this.transactions.run(async () => {
      const ended = await this.sessions.deleteOthers(user.id, user.sessionDigest);
      if (ended > 0) {
        await this.audit.record(actor, {
          action: 'session.others_ended',
          subjectId: user.id,
          after: { ended },
        });
      }
      return ended;
    });
  }

  /**
   * Ends all sessions of the user and restarts this browser's, which keeps what it came from, in the caller's transaction. Returns the
   * new secret, for the cookie after the commit; undefined if this browser was logged out in the meantime.
   */
  async renew(
    request: FastifyRequest,
    user: UserEntity,
    { sessionDigest }: SignedInUser,
    actor: Actor,
  ): Promise<string | undefined> {
    const secret = newSecret('session');
    const ended = await this.sessions.deleteAll(user.id, sessionDigest);
    if (!ended) return undefined;
    const details = { ...this.detailsOf(request, actor, ended.signIn), endsAt: ended.endsAt };
    const renewed = await this.sessions.insert(digestOf(secret), user, details);
    return renewed ? secret : undefined;
  }

  /**
   * Restarts this browser's session and keeps the user's others, in the caller's transaction. Without `signIn` it keeps what it came
   * from. Returns the new secret, for the cookie after the commit; undefined if it was logged out, or the password changed, in the meantime.
   */
  async restart(
    request: FastifyRequest,
    user: UserEntity,
    { sessionDigest }: SignedInUser,
    actor: Actor,
    signIn?: SignInMethod,
  ): Promise<string | undefined> {
    const secret = newSecret('session');
    const ended = await this.sessions.delete(sessionDigest);
    if (ended?.userId !== user.id) return undefined;
    const details = this.detailsOf(request, actor, signIn ?? ended.signIn);
    const restarted = await this.sessions.insert(digestOf(secret), user, {
      ...details,
      loginId: ended.loginId ?? undefined,
      endsAt: ended.endsAt,
    });
    return restarted ? secret : undefined;
  }

  setCookie(reply: FastifyReply, secret: string): void {
    this.cookies.set(reply, COOKIE, secret, this.settings.sessionTtl);
  }

  private countSignIn(
    kind: 'sign_in' | 'sign_in_refused',
    detail: SignInMethod['method'],
    { address }: Actor,
  ): void {
    this.activity.count({ kind, detail, address });
  }

  private detailsOf(request: FastifyRequest, actor: Actor, signIn: SignInMethod): SessionDetails {
    // Non-printable characters carry no information about a browser.
    const userAgent = request.headers['user-agent']?.replace(/[^\x20-\x7e]/g, '').slice(0, USER_AGENT_MAX);
    return {
      address: actor.address ?? null,
      userAgent: userAgent || null,
      signIn,
    };
  }

  private digestIn(request: FastifyRequest): Buffer | undefined {
    const secret = this.cookies.get(request, COOKIE);
    return secret && isSecret('session', secret) ? digestOf(secret) : undefined;
  }

  /** Counts a refused login, and records it for the account if that is known. */
  async refuse(userId: string | undefined, method: SignInMethod['method'], actor: Actor): Promise<void> {
    this.countSignIn('sign_in_refused', method, actor);
    await this.recordRefusal(userId, actor);
  }

  /**
   * Nothing is recorded for an unknown email, because anyone could fill the audit log. The commit does not wait for the disk, so
   * both cases take the same time.
   */
  private async recordRefusal(userId: string | undefined, actor: Actor): Promise<void> {
    await this.transactions.run(async () => {
      await this.sessions.commitWithoutWaiting();
      if (userId === undefined) return this.sessions.commitWithoutWaiting();
      await this.audit.record(actor, { action: 'session.refused', subjectId: userId });
    });
  }
}
