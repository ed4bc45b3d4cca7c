import { Injectable } from '@nestjs/common';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { UsersRepository } from '../accounts/users.repository.js';
import { KnownBrowsersService } from '../sessions/known-browsers.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import type { PasskeyEntity } from './passkey.entity.js';
import { PasskeysRepository } from './passkeys.repository.js';
import { CREDENTIAL_ID, userHandleOf } from './passkey-registrations.service.js';
import { PendingSignInsService } from './pending-sign-ins.service.js';
import { CHALLENGE_SECONDS, WebauthnChallenges, webauthn } from './webauthn-challenges.service.js';

/** The state of a passkey after it has signed. */
interface Signed {
  passkey: PasskeyEntity;
  signCount: number;
  backedUp: boolean;
}

/** Logging in with a passkey, without a password or an email address. */
@Injectable()
export class PasskeySignInsService {
  constructor(
    private readonly passkeys: PasskeysRepository,
    private readonly challenges: WebauthnChallenges,
    private readonly pending: PendingSignInsService,
    private readonly users: UsersRepository,
    private readonly sessions: SessionsService,
    private readonly browsers: KnownBrowsersService,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  /** What a browser needs to let its user choose a passkey. */
  async options(reply: FastifyReply): Promise<PublicKeyCredentialRequestOptionsJSON> {
    const { generateAuthenticationOptions } = await webauthn();
    return generateAuthenticationOptions({
      rpID: new URL(this.settings.baseUrl).hostname,
      challenge: await this.challenges.make(reply, null),
      timeout: CHALLENGE_SECONDS * 1000,
      userVerification: 'required',
    });
  }

  /**
   * Logs in with what the browser answered; false if anything about it is not right. That is counted, and recorded if it is a passkey of an
   * account, after `onWrong`, which may throw instead.
   */
  async signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: unknown,
    actor: Actor,
    onWrong: () => Promise<void>,
  ): Promise<boolean> {
    const { passkey: named, signed } = await this.verified(request, reply, answer);
    const user = signed && (await this.users.findByIdWithPassword(signed.passkey.userId));
    if (!user) {
      await onWrong();
      await this.sessions.refuse(named?.userId, 'passkey', actor);
      return false;
    }
    const known = this.browsers.marked(request, user.email);
    const isNewBrowser = !known || !(await this.browsers.isCurrent(known, user.email));
    let isCopy = false;
    const started = await this.sessions.start(
      request,
      reply,
      user,
      { method: 'passkey' },
      actor,
      isNewBrowser,
      async () => {
        const { passkey, signCount, backedUp } = signed;
        isCopy = !(await this.passkeys.use(passkey.id, signCount, backedUp));
        return !isCopy;
      },
    );
    if (isCopy) await this.recordCopy(signed, actor);
    if (!started) {
      await onWrong();
      return false;
    }
    this.browsers.remember(request, reply, user);
    await this.pending.end(request, reply);
    return true;
  }

  /** The passkey that the answer names, and whether it signed this browser's challenge, which is used up in any case. */
  private async verified(
    request: FastifyRequest,
    reply: FastifyReply,
    answer: unknown,
  ): Promise<{ passkey?: PasskeyEntity; signed?: Signed }> {
    const expectedChallenge = await this.challenges.take(request, reply, null);
    const response = answer as AuthenticationResponseJSON | undefined;
    const id: unknown = response?.id;
    if (expectedChallenge === undefined || typeof id !== 'string' || !CREDENTIAL_ID.test(id)) return {};
    const passkey = (await this.passkeys.findByCredentialId(id)) ?? undefined;
    if (!passkey) return {};
    return { passkey, signed: await this.signedBy(passkey, response!, expectedChallenge) };
  }

  private async signedBy(
    passkey: PasskeyEntity,
    response: AuthenticationResponseJSON,
    expectedChallenge: string,
  ): Promise<Signed | undefined> {
    try {
      const { verifyAuthenticationResponse } = await webauthn();
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        response,
        expectedChallenge,
        expectedOrigin: this.settings.baseUrl,
        expectedRPID: new URL(this.settings.baseUrl).hostname,
        // The counter is compared where it is written, so that of two copies only one gets in.
        credential: { id: response.id, publicKey: new Uint8Array(passkey.publicKey), counter: 0 },
      });
      if (!verified || !belongsTo(response, passkey)) return undefined;
      const { newCounter, credentialBackedUp } = authenticationInfo;
      return { passkey, signCount: newCounter, backedUp: credentialBackedUp };
    } catch {
      // Whatever is wrong with it, it comes from outside.
      return undefined;
    }
  }

  /** A counter that does not go up means that there are two devices with the same key. */
  private async recordCopy({ passkey, signCount }: Signed, actor: Actor): Promise<void> {
    await this.transactions.run(() =>
      this.audit.record(actor, {
        action: 'user.passkey_refused',
        subjectId: passkey.userId,
        after: { id: passkey.id, counter: signCount },
      }),
    );
  }
}

/** Whether the passkey says that it is its user's (WebAuthn §7.2, step 6). */
const belongsTo = ({ response }: AuthenticationResponseJSON, { userId }: PasskeyEntity): boolean =>
  response.userHandle === Buffer.from(userHandleOf(userId)).toString('base64url');
