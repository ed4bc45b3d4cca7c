import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import type { IdentityProvider } from '#platform/config/identity-providers.js';
import { isHigher, type OperatorRole } from '#platform/config/operator-role.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { FollowedProfilesService } from '#access/users/accounts/followed-profiles.service.js';
import { LinkedAccountsService } from '#access/users/accounts/linked-accounts.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { ActorsService } from '#access/users/sessions/actors.service.js';
import { IdentitiesRepository } from '../identities.repository.js';
import type { Person } from '../protocol/person.js';
import { ProviderClients } from '../protocol/provider-clients.service.js';
import { SignInRefused, type SignInRefusalReason } from '../refusals.js';

/** The locked account of a person. If its role changed now, its sessions have ended. */
export interface AdmittedAccount {
  user: UserEntity;
  roleChanged: boolean;
}

/** An account, or a refusal. The transaction must be committed in both cases, because it may have changed the account. */
export type FoundAccount = AdmittedAccount | { refused: SignInRefusalReason; userId: string };

/**
 * The account of a person who authenticated at a provider (contract §15): the one that is linked, or the one with the same verified
 * address, or a new one. Everything happens in the caller's transaction, with the account locked.
 */
@Injectable()
export class ProviderAccounts {
  constructor(
    private readonly accounts: LinkedAccountsService,
    private readonly profiles: FollowedProfilesService,
    private readonly identities: IdentitiesRepository,
    private readonly providerClients: ProviderClients,
    private readonly actors: ActorsService,
    private readonly audit: AuditService,
    private readonly notifications: NotificationsService,
  ) {}

  /**
   * Finds, links or creates the account. Throws a `SignInRefused` if nothing may be changed, and `NoLongerSignedIn` if the
   * actor's session has ended. If two first sign-ins run at once, one may violate a unique constraint and must be repeated.
   */
  async findOrLink(provider: IdentityProvider, person: Person, actor: Actor): Promise<FoundAccount> {
    const { issuer, subject } = person;
    const userId = await this.identities.findUserId(issuer, subject);
    const linked = userId === undefined ? null : await this.accounts.lock({ id: userId });
    // The link may have been removed before the account was locked.
    if (linked && (await this.identities.touch(person, linked.id))) {
      return this.admit(provider, person, linked, actor);
    }
    return this.link(provider, person, actor);
  }

  private async admit(
    provider: IdentityProvider,
    person: Person,
    user: UserEntity,
    actor: Actor,
  ): Promise<FoundAccount> {
    // Checked before a changed role ends all sessions of the account.
    await this.actors.requireLive(actor);
    if (!user.enabled) {
      // A role that is no longer given there is not there when the account is enabled again.
      if (isHigher(user.operatorRole, roleAfter(provider, person, user.operatorRole))) {
        await this.applyRole(provider, person, user, actor);
      }
      return { refused: 'account_disabled', userId: user.id };
    }
    if (person.verifiedEmail !== undefined) {
      await this.accounts.noteVerified(user, person.verifiedEmail, actor);
    }
    const { name, verifiedEmail } = person;
    const tell = () => this.profiles.tell(user, verifiedEmail, provider.label, actor);
    // Told before a role is gained, because the address does not count as verified any more after that.
    const isGain = isHigher(roleAfter(provider, person, user.operatorRole), user.operatorRole);
    const told = isGain ? await tell() : undefined;
    const now = await this.applyRole(provider, person, user, actor);
    // Returned, not thrown, so that it is committed: a user without a role at the provider loses the operator role, even if the
    // provider is for operators only.
    if (!isFor(provider, now.user.operatorRole)) return { refused: 'not_for_you', userId: user.id };
    const email = isGain ? told : await tell();
    return { ...now, user: await this.profiles.follow(now.user, { name, email }, actor) };
  }

  /** The one place where a provider's claim becomes a role. */
  private async applyRole(
    provider: IdentityProvider,
    person: Person,
    before: UserEntity,
    actor: Actor,
  ): Promise<AdmittedAccount> {
    const role = roleAfter(provider, person, before.operatorRole);
    const user = await this.accounts.setRole(before, role, actor, person);
    if (isFor(provider, user.operatorRole)) await this.moveLink(provider, person, user);
    return { user, roleChanged: user.operatorRole !== before.operatorRole };
  }

  /**
   * A link that was made through another entry for the same provider moves to the entry that decides the role, because the console then
   * asks for that one. Not to one that refuses such accounts.
   */
  private async moveLink(
    { id: to, roleClaim }: IdentityProvider,
    person: Person,
    { id }: UserEntity,
  ): Promise<void> {
    if (roleClaim === undefined) return;
    const deciding = this.providerClients.providers.filter((each) => each.roleClaim !== undefined);
    await this.identities.move(person, id, { to, except: deciding.map((each) => each.id) });
  }

  /** Links the account with the person's verified address, or a new account. */
  private async link(provider: IdentityProvider, person: Person, actor: Actor): Promise<FoundAccount> {
    if (provider.accounts === 'linked') refuse('no_account', 'accounts are only linked by hand');
    const { issuer, subject, verifiedEmail: email } = person;
    if (email === undefined) {
      if (!person.hasEmail) refuse('email_missing', 'no email address');
      if (person.saysWhetherVerified) refuse('email_not_verified', 'email_verified is not true');
      return refuse(
        'email_verification_unknown',
        'the provider sends no email_verified, and its trust_email in IDENTITY_PROVIDERS does not cover this address',
      );
    }
    const found = await this.accounts.lock({ email });
    // A concurrent first sign-in may have linked the same person since this one looked for a link.
    if (found && (await this.identities.touch(person, found.id))) {
      return this.admit(provider, person, found, actor);
    }
    if (found) await this.refuseLink(provider, person, found);
    const user = found
      ? await this.openToPerson(provider, { ...person, verifiedEmail: email }, found, actor)
      : await this.create(provider, { ...person, verifiedEmail: email }, actor);
    const now = await this.applyRole(provider, person, user, actor);
    const by = { ...actor, id: user.id };
    // To the issuer that the entry had before: others are refused.
    const former = await this.identities.delete(user.id, provider.id);
    if (former) {
      const before = { provider: provider.id, issuer: former.issuer };
      await this.audit.record(by, {
        action: 'user.identity_removed',
        subjectId: user.id,
        before,
      });
    }
    await this.identities.insert({ issuer, subject, userId: user.id, provider: provider.id });
    await this.audit.record(by, {
      action: 'user.identity_linked',
      subjectId: user.id,
      after: { provider: provider.id, issuer },
    });
    if (found) {
      const message = MESSAGES.identityLinked(provider.label, user !== found);
      await this.notifications.raise(user.id, null, message, actor);
    }
    return { ...now, user: await this.profiles.follow(now.user, { name: person.name }, actor) };
  }

  /**
   * Marks the address as verified, so that notifications are mailed to it. With the first link, all earlier ways to open the
   * account end, because nobody had proven that they were this person's. If the account gains a role now, they end anyway.
   */
  private async openToPerson(
    provider: IdentityProvider,
    person: Person & { verifiedEmail: string },
    user: UserEntity,
    actor: Actor,
  ): Promise<UserEntity> {
    await this.accounts.noteVerified(user, person.verifiedEmail, actor);
    if (isHigher(roleAfter(provider, person, user.operatorRole), user.operatorRole)) return user;
    if (await this.identities.hasAny(user.id)) return user;
    return this.accounts.endWays(user, { ...actor, id: user.id });
  }

  private async refuseLink(provider: IdentityProvider, person: Person, user: UserEntity): Promise<void> {
    if (!user.enabled) refuse('account_disabled', 'the account is disabled', user.id);
    const isForOperators = provider.audience.includes('operators');
    if (!isForOperators && (await this.accounts.countsAsOperator(user))) {
      refuse('not_for_you', 'an operator is not linked by a provider of users', user.id);
    }
    if (!isFor(provider, roleAfter(provider, person, user.operatorRole))) {
      refuse('not_for_you', 'the provider is not for this kind of account', user.id);
    }
    // The provider gave the address to someone else, who must not get the account of the person linked before. With another client
    // the same person may have another subject there, and so at another issuer, which the same entry may have had before.
    const links = (await this.identities.list(user.id)).filter(
      ({ issuer }) => new URL(issuer).href === new URL(person.issuer).href,
    );
    const sameClient = this.providerClients
      .ofIssuer(person.issuer)
      .filter(({ clientId }) => clientId === provider.clientId);
    if (links.some((link) => sameClient.some((each) => this.providerClients.isOf(each, link)))) {
      refuse('no_account', 'the account is linked to another person of the provider', user.id);
    }
  }

  private create(
    provider: IdentityProvider,
    person: Person & { verifiedEmail: string },
    actor: Actor,
  ): Promise<UserEntity> {
    const { verifiedEmail: email, name = person.postedName } = person;
    if (provider.accounts !== 'create') return refuse('no_account', 'no account with this address');
    const operatorRole = roleAfter(provider, person, null);
    if (!isFor(provider, operatorRole)) return refuse('not_for_you', 'the person is no operator');
    return this.accounts.create({ email, name: name ?? email.split('@', 1)[0]!, operatorRole }, actor);
  }
}

/** The role after this sign-in: decided by the provider's claim, if one is configured, otherwise unchanged. */
const roleAfter = (
  { roleClaim }: IdentityProvider,
  { role }: Person,
  before: OperatorRole | null,
): OperatorRole | null => (roleClaim === undefined ? before : (role ?? null));

const isFor = ({ audience }: IdentityProvider, operatorRole: OperatorRole | null): boolean =>
  audience.includes(operatorRole ? 'operators' : 'users');

function refuse(reason: SignInRefusalReason, message: string, userId?: string): never {
  throw Object.assign(new SignInRefused(reason, message), { userId });
}
