import { Injectable } from '@nestjs/common';
import type { PublicKeyCredentialCreationOptionsJSON } from '@simplewebauthn/server';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { isUniqueViolation } from '#platform/database/queries/database-errors.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict, notFound } from '#platform/http/problems/problem.js';
import { isId, newId } from '#platform/secrets/ids.js';
import type { SignedInUser } from '../sessions/signed-in-user.js';
import type { PasskeyEntity } from './passkey.entity.js';
import { PasskeyRegistrations } from './passkey-registrations.service.js';
import { PasskeysRepository } from './passkeys.repository.js';
import { SecondFactorService } from './second-factor.service.js';
import { WebauthnChallenges } from './webauthn-challenges.service.js';
import { said, say } from '#platform/language/text.js';

const MOST = 20;

const ONLY_WAY_IN = say(
  'This passkey is the only way to log in to your account. Add another one or set a password first, then remove this one.',
);
const ONLY_WAY_IN_WITHOUT_PASSWORDS = say(
  'This passkey is the only way to log in to your account. Add another one first, then remove this one.',
);

/** The passkeys of a user: added, renamed and removed on the account page. */
@Injectable()
export class PasskeysService {
  constructor(
    private readonly passkeys: PasskeysRepository,
    private readonly challenges: WebauthnChallenges,
    private readonly factors: SecondFactorService,
    private readonly registrations: PasskeyRegistrations,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  list(userId: string): Promise<PasskeyEntity[]> {
    return this.passkeys.list(userId);
  }

  /** One of the user's passkeys; throws a 404 problem. */
  async get(userId: string, id: string): Promise<PasskeyEntity> {
    return (isId('pkey', id) && (await this.passkeys.find(userId, id))) || missing();
  }

  /** What a browser needs to make a passkey for the user. */
  async creationOptions(
    user: SignedInUser,
    reply: FastifyReply,
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const challenge = await this.challenges.make(reply, user.id);
    return this.registrations.options(user, challenge, await this.passkeys.list(user.id));
  }

  /**
   * Stores the passkey that a browser has made; false if the answer is not right. Throws a 409 problem beyond 20.
   */
  async add(
    user: SignedInUser,
    answer: string,
    name: string,
    request: FastifyRequest,
    reply: FastifyReply,
    actor: Actor,
  ): Promise<boolean> {
    const challenge = await this.challenges.take(request, reply, user.id);
    const made = challenge && (await this.registrations.verified(answer, challenge));
    if (!made) return false;
    const id = newId('pkey');
    const passkey = { id, userId: user.id, name, ...made };
    try {
      await this.factors.add(user, 'passkey', actor, async () => {
        if ((await this.passkeys.count(user.id)) >= MOST) {
          throw conflict(`You have ${MOST} passkeys. Remove one before you add another.`, {
            said: said('You have {count} passkeys. Remove one before you add another.', { count: MOST }),
          });
        }
        await this.passkeys.insert(passkey);
        const entry = { action: 'user.passkey_added', subjectId: user.id } as const;
        await this.audit.record(actor, { ...entry, after: { id, name } });
        return 'added';
      });
      return true;
    } catch (error) {
      if (isUniqueViolation(error, 'passkeys_credential_id_key')) return false;
      throw error;
    }
  }

  /** Renames a passkey; throws a 404 problem. */
  async rename(user: SignedInUser, id: string, name: string, actor: Actor): Promise<void> {
    await this.transactions.run(async () => {
      const passkey = (isId('pkey', id) && (await this.passkeys.find(user.id, id))) || missing();
      if (passkey.name === name) return;
      await this.passkeys.rename(id, name);
      await this.audit.record(actor, {
        action: 'user.passkey_renamed',
        subjectId: user.id,
        before: { id, name: passkey.name },
        after: { id, name },
      });
    });
  }

  /** Removes a passkey; throws a 404 problem, and a 409 problem if the user must keep it. */
  remove(user: SignedInUser, id: string, actor: Actor): Promise<void> {
    return this.factors.remove(user, 'passkey', actor, async () => {
      const passkey = (isId('pkey', id) && (await this.passkeys.find(user.id, id))) || missing();
      const ways = { providers: this.providersFor(user), withPassword: this.settings.passwordSignIn };
      if (!(await this.passkeys.delete(user.id, id, ways))) {
        throw conflict(ways.withPassword ? ONLY_WAY_IN : ONLY_WAY_IN_WITHOUT_PASSWORDS);
      }
      await this.audit.record(actor, {
        action: 'user.passkey_removed',
        subjectId: user.id,
        before: { id, name: passkey.name },
      });
    });
  }

  /** The providers with a link to which this user may log in: a person has one link for all entries with the same client there. */
  private providersFor({ role }: SignedInUser): string[] {
    const { identityProviders: all } = this.settings;
    const who = role === 'operator' ? 'operators' : 'users';
    const admitting = all.filter(({ audience }) => audience.includes(who));
    return all
      .filter(({ issuer, clientId }) =>
        admitting.some((each) => each.issuer.href === issuer.href && each.clientId === clientId),
      )
      .map(({ id }) => id);
  }
}

function missing(): never {
  throw notFound(say('You have no such passkey. It may have been removed already.'));
}
