import { Injectable } from '@nestjs/common';
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { isUniqueViolation } from '#platform/database/queries/database-errors.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { newId } from '#platform/secrets/ids.js';
import { digestOf } from '#platform/secrets/tokens.js';
import { UsersService } from '../accounts/users.service.js';
import { PasskeyRegistrations } from '../factors/passkey-registrations.service.js';
import { PasskeysRepository } from '../factors/passkeys.repository.js';
import { WebauthnChallenges } from '../factors/webauthn-challenges.service.js';
import { EmailLinksRepository } from './email-links.repository.js';
import { SealedReturns } from './sealed-returns.service.js';
import { SignUpService, type NewSignUp } from './sign-up.service.js';

/** Accounts that people make themselves with a passkey in place of a password (contract §16). */
@Injectable()
export class PasskeySignUpsService {
  constructor(
    private readonly signUps: SignUpService,
    private readonly returns: SealedReturns,
    private readonly links: EmailLinksRepository,
    private readonly accounts: UsersService,
    private readonly passkeys: PasskeysRepository,
    private readonly registrations: PasskeyRegistrations,
    private readonly challenges: WebauthnChallenges,
    private readonly audit: AuditService,
    private readonly notifications: NotificationsService,
  ) {}

  /** What a browser needs to make the passkey of the new account; undefined for a link that no longer works. */
  async options(
    key: string,
    reply: FastifyReply,
  ): Promise<PublicKeyCredentialCreationOptionsJSON | undefined> {
    const link = await this.signUps.find(key);
    if (!link) return undefined;
    const { email } = link;
    const id = newId('user');
    const challenge = await this.challenges.makeForSignUp(reply, digestOf(key), id);
    return this.registrations.options({ id, email, name: email }, challenge, []);
  }

  /**
   * Creates the account, with a verified address and the passkey that the browser has made, and uses up the link in one transaction.
   * Throws a 409 problem if the address has got an account in the meantime.
   */
  async redeem(
    key: string,
    person: { name: string; passkeyName: string },
    answer: string,
    request: FastifyRequest,
    reply: FastifyReply,
    actor: Actor,
  ): Promise<NewSignUp | 'gone' | 'wrong answer'> {
    if (!(await this.signUps.find(key))) return 'gone';
    const taken = await this.challenges.takeForSignUp(request, reply, digestOf(key));
    const made = taken && (await this.registrations.verified(answer, taken.challenge));
    if (!made) return 'wrong answer';
    const { userId } = taken;
    try {
      return await this.accounts.createBy(async (insert) => {
        const link = await this.links.use(digestOf(key), 'sign_up');
        if (!link) return 'gone';
        const account = { id: userId, email: link.email, name: person.name };
        const user = await insert({ ...account, passwordHash: null, emailVerified: true }, actor);
        const passkey = { id: newId('pkey'), userId, name: person.passkeyName };
        await this.passkeys.insert({ ...passkey, ...made });
        await this.audit.record(
          { ...actor, id: userId },
          { action: 'user.passkey_added', subjectId: userId, after: { id: passkey.id, name: passkey.name } },
        );
        await this.notifications.raise(userId, null, MESSAGES.secondFactorAdded('passkey'));
        const returnTo = this.returns.open(digestOf(key), link.returnTo);
        return { user: { ...user, passwordHash: null }, returnTo };
      });
    } catch (error) {
      if (isUniqueViolation(error, 'passkeys_credential_id_key')) return 'wrong answer';
      throw error;
    }
  }
}
