import { Injectable, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActivityService } from '#records/activity/activity.service.js';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import type { IdentityProvider } from '#platform/config/identity-providers.js';
import { Settings } from '#platform/config/settings.js';
import { isUniqueViolation } from '#platform/database/queries/database-errors.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { Form } from '#platform/http/forms/form.js';
import { NoLongerSignedIn } from '#platform/http/page-routes/page-answer.js';
import type { WayOut } from '#platform/http/page-routes/page-answer.js';
import { visitorOf } from '#platform/http/server/request-origin.js';
import { SignInLimitsService } from '#access/rate-limits/sign-in/sign-in-limits.service.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import { digestOf } from '#platform/secrets/tokens.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { KnownBrowsersService } from '#access/users/sessions/known-browsers.service.js';
import { SessionsService } from '#access/users/sessions/sessions.service.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { SealedIdTokens } from '../logout/sealed-id-tokens.service.js';
import {
  isTakenAsRecent,
  ProviderAuthentication,
  type AuthenticationRequest,
} from '../protocol/provider-authentication.service.js';
import type { Person } from '../protocol/person.js';
import { isSaidByBrowser } from '../protocol/refusal-of-error.js';
import { REFUSAL_STATUS, SignInRefused } from '../refusals.js';
import { ProviderAccounts, type AdmittedAccount } from './provider-accounts.service.js';
import { PostedNames } from './posted-names.service.js';
import { ProviderSignInsRepository, type StartedSignIn } from './provider-sign-ins.repository.js';
import { SIGN_IN_SECONDS, SignInCookies } from './sign-in-cookies.service.js';

// Two concurrent first sign-ins violate each of these constraints at most once.
const UNIQUE = ['users_email_key', 'identities_pkey', 'identities_user_provider_key'];
const ATTEMPTS = 4;
/** The subject in the audit log while it is not known whose sign-in it is. */
const UNKNOWN = 'unknown';

/** The result of a sign-in that came back. */
export type SignInOutcome = { returnTo?: string; refused?: SignInRefused };

/** Logins through identity providers: `begin` sends the browser to the provider, `finish` handles the callback, once. */
@Injectable()
export class ProviderSignIns {
  private readonly logger = new Logger(ProviderSignIns.name);
  private readonly box: SealedBox;

  constructor(
    private readonly authentication: ProviderAuthentication,
    private readonly accounts: ProviderAccounts,
    private readonly started: ProviderSignInsRepository,
    private readonly cookies: SignInCookies,
    private readonly sessions: SessionsService,
    private readonly browsers: KnownBrowsersService,
    private readonly limits: SignInLimitsService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly activity: ActivityService,
    private readonly idTokens: SealedIdTokens,
    private readonly names: PostedNames,
    settings: Settings,
  ) {
    this.box = new SealedBox('provider sign-in', settings.encryptionKeys);
  }

  /**
   * Starts a sign-in; returns the redirect to the provider. With `again`, that user has to authenticate now, and the session
   * continues under a new id. A refusal is counted.
   */
  async begin(
    provider: IdentityProvider,
    { returnTo, again }: { returnTo?: string; again?: SignedInUser },
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<WayOut | { refused: SignInRefused }> {
    try {
      const { url, request: sent } = await this.authentication.begin(provider, { again: !!again });
      const signIn = {
        stateDigest: digestOf(sent.state),
        browserDigest: this.cookies.keep(request, reply),
        provider: provider.id,
        sealed: this.sealed(sent),
        returnTo: returnTo ?? null,
        userId: again?.id ?? null,
      };
      await this.started.insert(signIn, SIGN_IN_SECONDS);
      this.cookies.forgetEnd(request, reply);
      return { leaveTo: url.href, name: provider.label };
    } catch (error) {
      return { refused: await this.noteRefusal(error, provider, request, reply, again?.id) };
    }
  }

  /** Finishes the sign-in that the provider's answer belongs to, and consumes it whatever the result. */
  async finish(
    provider: IdentityProvider,
    query: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<SignInOutcome> {
    let returnTo: string | undefined;
    let concerns: string | undefined;
    try {
      const answer = Form.parse(query);
      const state = answer.get('state') ?? '';
      const started = await this.use(provider, state, request);
      returnTo = started.returnTo ?? undefined;
      concerns = started.userId ?? UNKNOWN;
      const sent = this.opened(state, started.sealed);
      if (!sent) throw new SignInRefused('sign_in_expired', 'sealed with a key that is gone');
      if (started.userId === null) {
        const person = await this.authentication.finish(provider, sent, query, {});
        const postedName = this.names.in(provider, answer);
        await this.signIn(provider, { ...person, postedName }, request, reply);
      } else {
        const present = await this.sessions.current(request);
        if (present?.id !== started.userId) throw loggedOutBefore();
        const person = await this.authentication.finish(provider, sent, query, { again: present });
        await this.confirm(provider, person, present, request, reply);
      }
      return { returnTo };
    } catch (error) {
      if (error instanceof SignInRefused && !isFaultOfProvider(error))
        await this.limits.countRefused(request);
      return { returnTo, refused: await this.noteRefusal(error, provider, request, reply, concerns) };
    }
  }

  /** The nonce and the verifier as stored: sealed, and bound to the state. */
  private sealed({ state, ...rest }: AuthenticationRequest): Buffer {
    return this.box.seal(JSON.stringify(rest), state);
  }

  private opened(state: string, sealed: Buffer): AuthenticationRequest | undefined {
    const text = this.box.open(sealed, state);
    return text === undefined
      ? undefined
      : { state, ...(JSON.parse(text) as Omit<AuthenticationRequest, 'state'>) };
  }

  private async use(
    provider: IdentityProvider,
    state: string,
    request: FastifyRequest,
  ): Promise<StartedSignIn> {
    const browserDigest = this.cookies.browserDigest(request);
    if (!browserDigest) throw new SignInRefused('sign_in_expired', 'nothing was started in this browser');
    const key = { browserDigest, provider: provider.id };
    const started = await this.started.use({ ...key, stateDigest: digestOf(state) });
    if (started) return started;
    if (await this.started.isUnderWay(key)) {
      const refusal = new SignInRefused(
        'provider_answer_invalid',
        'the state is that of no sign-in of this browser',
      );
      throw Object.assign(refusal, { userId: UNKNOWN });
    }
    throw new SignInRefused('sign_in_expired', 'too old, or used');
  }

  private async signIn(
    provider: IdentityProvider,
    person: Person,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const actor = visitorOf(request);
    const { user, secret } = await this.withAccount(provider, person, actor, (account) => {
      const isNew = !this.browsers.knows(request, account.user);
      const signIn = this.signInOf(provider, person, account.user);
      return this.sessions.startWithoutCookie(request, account.user, signIn, actor, isNew);
    });
    this.activity.count({ kind: 'sign_in', detail: 'provider', address: actor.address });
    this.sessions.setCookie(reply, secret);
    this.browsers.remember(request, reply, user);
  }

  /**
   * The logged-in user authenticated again: the session continues under a new id. If the role at the provider has changed, which
   * ends all sessions, this browser gets a new session.
   */
  private async confirm(
    provider: IdentityProvider,
    person: Person,
    present: SignedInUser,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const { id: userId } = present;
    const actor = { ...visitorOf(request), id: userId, sessionDigest: present.sessionDigest };
    const confirmed = this.withAccount(provider, person, actor, async (account) => {
      const { user, roleChanged } = account;
      if (user.id !== userId) {
        throw new SignInRefused('provider_answer_invalid', 'another account than the one logged in');
      }
      const signIn = this.signInOf(provider, person, user);
      if (roleChanged) return this.sessions.startWithoutCookie(request, user, signIn, actor, false);
      const renewed = await this.sessions.restart(request, user, present, actor, signIn);
      if (renewed === undefined) throw loggedOutBefore();
      await this.audit.record(actor, { action: 'session.confirmed', subjectId: userId });
      return renewed;
    });
    const { secret } = await confirmed.catch((error: unknown) => {
      throw error instanceof NoLongerSignedIn ? loggedOutBefore() : error;
    });
    this.sessions.setCookie(reply, secret);
  }

  /**
   * Runs `work`, which starts or renews the session and returns its secret, with the person's locked account: in the same transaction
   * as the changes made by finding it.
   */
  private async withAccount(
    provider: IdentityProvider,
    person: Person,
    actor: Actor,
    work: (account: AdmittedAccount) => Promise<string | undefined>,
  ): Promise<{ user: UserEntity; secret: string }> {
    for (let attempt = 1; ; attempt++) {
      try {
        const outcome = await this.transactions.run(async () => {
          const found = await this.accounts.findOrLink(provider, person, actor);
          if ('refused' in found) return found;
          return { user: found.user, secret: await work(found) };
        });
        if ('refused' in outcome) {
          const refusal = new SignInRefused(outcome.refused, 'the linked account');
          throw Object.assign(refusal, { userId: outcome.userId });
        }
        const { user, secret } = outcome;
        if (secret === undefined) throw new SignInRefused('account_disabled', 'changed during the sign-in');
        return { user, secret };
      } catch (error) {
        if (attempt === ATTEMPTS || !UNIQUE.some((name) => isUniqueViolation(error, name))) throw error;
      }
    }
  }

  private signInOf(provider: IdentityProvider, { idToken, ...person }: Person, user: UserEntity) {
    const { subject, sid } = person;
    const { authenticatedAt = isTakenAsRecent(provider, undefined, user) ? new Date() : undefined } = person;
    const owner = { provider: provider.id, subject };
    const sealedIdToken = this.idTokens.seal(owner, idToken);
    return { method: 'provider', ...owner, sid, authenticatedAt, sealedIdToken } as const;
  }

  /**
   * Counts and logs a refusal. Records it in the audit log only if it concerns an account or a started sign-in, because otherwise
   * anyone could fill the log. Rethrows any other error.
   */
  private async noteRefusal(
    error: unknown,
    { id: provider }: IdentityProvider,
    request: FastifyRequest,
    reply: FastifyReply,
    concerns: string | undefined,
  ): Promise<SignInRefused> {
    if (!(error instanceof SignInRefused)) throw error;
    const { reason, message } = error;
    const subjectId = error.userId ?? concerns;
    const actor = visitorOf(request);
    this.cookies.noteEnd(reply);
    this.logger.warn(`Login through ${provider} refused (${reason}): ${message}`);
    this.activity.count({ kind: 'sign_in_refused', detail: reason, address: actor.address });
    if (subjectId === undefined) return error;
    await this.transactions.run(() =>
      this.audit.record(actor, {
        action: 'session.refused',
        subjectId,
        after: { provider, reason },
      }),
    );
    return error;
  }
}

/** Whether the provider, not the person, is to blame. What the query from the browser says about the provider is no proof. */
const isFaultOfProvider = (refused: SignInRefused): boolean =>
  REFUSAL_STATUS[refused.reason] === 503 && !isSaidByBrowser(refused);

const loggedOutBefore = () => new SignInRefused('sign_in_expired', 'logged out during the sign-in');
