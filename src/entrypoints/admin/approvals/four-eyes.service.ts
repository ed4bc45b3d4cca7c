import { Injectable } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { ClientSecretsService, type RotatedSecret } from '#access/clients/client-secrets.service.js';
import type { ClientChanges, NewClient } from '#access/clients/client.resource.js';
import { ClientsService, type RegisteredClient } from '#access/clients/clients.service.js';
import { Settings } from '#platform/config/settings.js';
import { conflict } from '#platform/http/problems/problem.js';
import { IdentitiesService } from '#access/identity-providers/identities.service.js';
import { hashPassword } from '#platform/secrets/passwords.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import type { NewUser, UserChanges } from '#access/users/accounts/user.resource.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { UsersService, type ChangeCheck } from '#access/users/accounts/users.service.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import { PASSWORD_HASH, type ApprovalEntity } from './approval.entity.js';
import { ApprovalsService } from './approvals.service.js';
import type { Asked } from './approvals.repository.js';

/** The result of an action: done, or waiting for a second admin. */
export type Outcome<T = void> = { done: T; waiting?: undefined } | { waiting: ApprovalEntity };

/**
 * The actions that need two admins with `FOUR_EYES=true` (contract §17); without it, they are done at once. Each action runs
 * normally, and is rolled back if it has to wait. So it is validated now, and whether it waits is decided under its locks.
 */
@Injectable()
export class FourEyes {
  constructor(
    private readonly approvals: ApprovalsService,
    private readonly users: UsersService,
    private readonly clients: ClientsService,
    private readonly secrets: ClientSecretsService,
    private readonly passwordLinks: PasswordLinksService,
    private readonly factors: SecondFactorService,
    private readonly identities: IdentitiesService,
    private readonly protection: OperatorProtectionService,
    private readonly settings: Settings,
  ) {}

  eraseUser(id: string, actor: Actor): Promise<Outcome> {
    const asked = { action: 'user.erase', subjectId: id, details: null } as const;
    return this.attempt(asked, actor, () => this.users.erase(id, actor, () => this.wait()));
  }

  async deleteClient(id: string, actor: Actor): Promise<Outcome> {
    if (!this.settings.fourEyes) return { done: await this.clients.delete(id, actor) };
    await this.clients.get(id);
    return {
      waiting: await this.approvals.request({ action: 'client.delete', subjectId: id, details: null }, actor),
    };
  }

  /** Creates a user. Throws a 409 problem for a new admin if a second admin would have to approve: the user must exist first. */
  async createUser(input: NewUser, actor: Actor): Promise<UserEntity> {
    if (this.settings.fourEyes && input.role === 'operator' && (input.operatorRole ?? 'admin') === 'admin') {
      throw conflict(
        'A second admin approves new admins: create the user first, then make the user an admin.',
      );
    }
    return this.users.create(input, actor);
  }

  /**
   * Updates a user. A change waits if it makes an admin, if it could take over the account of another operator or shut that person
   * out of it (password, address, role, enabling), or if it would leave one enabled admin, who could not get anything approved.
   * Such a change must be requested alone (otherwise a 409 problem), because nothing is done until it is approved.
   */
  async updateUser(id: string, changes: UserChanges, actor: Actor): Promise<Outcome<UserEntity>> {
    let asked: Asked | undefined;
    const check: ChangeCheck = async (before, after, adminsLeft = ADMINS_NEEDED) => {
      if (!this.settings.fourEyes) return;
      const wanted = changed(before, changes);
      if (before.operatorRole !== 'admin' && after.operatorRole === 'admin') {
        onlyThese(wanted, ['role', 'operatorRole'], 'new admins: change the role alone');
        asked = { action: 'user.make_admin', subjectId: id, details: { email: before.email } };
      } else if (userPowersIn(before, wanted) && (await this.isAnother(before, actor))) {
        onlyThese(wanted, OF_OPERATORS, 'what opens the account of an operator: change it alone');
        asked = { action: 'user.update', subjectId: id, details: wanted };
      } else if (adminsLeft < ADMINS_NEEDED) {
        onlyThese(wanted, OF_OPERATORS, 'what leaves one admin alone: change it alone');
        asked = { action: 'user.update', subjectId: id, details: wanted };
      }
      if (asked) throw new NeedsApproval();
    };
    return this.attempt(
      async () => {
        const { password, ...details } = (asked!.details ?? {}) as UserChanges;
        if (password === undefined) return asked!;
        const hash = await hashPassword(password);
        return { ...asked!, details: { ...details, [PASSWORD_HASH]: hash }, password };
      },
      actor,
      () => this.users.update(id, changes, actor, check),
    );
  }

  /** A link to set another operator's password waits; it is shown to the person who approves. `formId`: as in `createOnce`. */
  createPasswordLink(id: string, actor: Actor, formId?: string): Promise<Outcome<string | undefined>> {
    const asked = { action: 'user.create_password_link', subjectId: id, details: null } as const;
    const check = () => this.waitOnAnother(id, actor);
    return this.attempt(asked, actor, () =>
      formId === undefined
        ? this.passwordLinks.create(id, actor, check)
        : this.passwordLinks.createOnce(formId, id, actor, check),
    );
  }

  resetSecondFactor(id: string, own: string | undefined, actor: Actor): Promise<Outcome> {
    const asked = { action: 'user.reset_second_factor', subjectId: id, details: null } as const;
    const check = () => this.waitOnAnother(id, actor);
    return this.attempt(asked, actor, () => this.factors.reset(id, own, actor, check));
  }

  removeIdentity(id: string, provider: string, actor: Actor): Promise<Outcome> {
    const asked = { action: 'user.remove_identity', subjectId: id, details: { provider } } as const;
    const check = () => this.waitOnAnother(id, actor);
    return this.attempt(asked, actor, () => this.identities.remove(id, provider, actor, check));
  }

  /** A client of the admin API waits; its secret is shown to the person who approves. Undefined if it exists already, as in `createOnce`. */
  createClient(id: string, input: NewClient, actor: Actor): Promise<Outcome<RegisteredClient | undefined>> {
    const asked = { action: 'client.create', subjectId: id, details: { ...input } } as const;
    const check = () => (isAdminClient(input) ? this.wait() : Promise.resolve());
    return this.attempt(asked, actor, () => this.clients.createOnce(id, input, actor, check));
  }

  /** Giving a client of the admin API more power waits: enabling it, making it a service of the company, or how it authenticates. */
  updateClient(id: string, changes: ClientChanges, actor: Actor): Promise<Outcome<RegisteredClient>> {
    let details: ClientChanges = {};
    const check = (before: ClientEntity) => {
      if (!this.settings.fourEyes || !isAdminClient(before)) return;
      details = changed(before, changes);
      if (!clientPowersIn(details)) return;
      onlyThese(
        details,
        ['enabled', 'companyService', ...CREDENTIALS],
        'what gives a client of the admin API power: change it alone',
      );
      throw new NeedsApproval();
    };
    return this.attempt(
      () => Promise.resolve({ action: 'client.update', subjectId: id, details: { ...details } }),
      actor,
      () => this.clients.update(id, changes, actor, check),
    );
  }

  /** A new secret for a client of the admin API waits; it is shown to the person who approves. `newest`: as in `rotateOnce`. */
  rotateSecret(
    id: string,
    expirePreviousIn: number,
    actor: Actor,
    newest?: string,
  ): Promise<Outcome<RotatedSecret | undefined>> {
    const asked = { action: 'client.rotate_secret', subjectId: id, details: { expirePreviousIn } } as const;
    const check = (client: ClientEntity) => (isAdminClient(client) ? this.wait() : Promise.resolve());
    return this.attempt(asked, actor, () =>
      newest === undefined
        ? this.secrets.rotate(id, expirePreviousIn, actor, check)
        : this.secrets.rotateOnce(id, newest, expirePreviousIn, actor, check),
    );
  }

  /** Runs the action, or requests an approval if it throws `NeedsApproval`. */
  private async attempt<T>(
    asked: Asked | (() => Promise<Asked>),
    actor: Actor,
    work: () => Promise<T>,
  ): Promise<Outcome<T>> {
    try {
      return { done: await work() };
    } catch (error) {
      if (!(error instanceof NeedsApproval)) throw error;
    }
    return {
      waiting: await this.approvals.request(typeof asked === 'function' ? await asked() : asked, actor),
    };
  }

  private wait(): Promise<void> {
    return this.settings.fourEyes ? Promise.reject(new NeedsApproval()) : Promise.resolve();
  }

  private async waitOnAnother(id: string, actor: Actor): Promise<void> {
    if (!this.settings.fourEyes) return;
    const user = await this.users.hold(id);
    if (user && (await this.isAnother(user, actor))) throw new NeedsApproval();
  }

  /**
   * Whether the user counts as an operator and is not the actor. A client is never the same person, not even on the account of
   * its owner.
   */
  private async isAnother(user: UserEntity, actor: Actor): Promise<boolean> {
    if (actor.type === 'user' && actor.id === user.id) return false;
    return this.protection.counts(user);
  }
}

/** With fewer enabled admins nothing could be approved: one asks, another approves. */
const ADMINS_NEEDED = 2;

/** What of an operator can be asked for together. */
const OF_OPERATORS = ['role', 'operatorRole', 'email', 'emailVerified', 'enabled', 'password'] as const;

/** Rolls back a change that has to wait. */
class NeedsApproval extends Error {}

/** Whether the client can use the admin API. */
const isAdminClient = ({ scopes }: { scopes: string[] }): boolean =>
  scopes.some((scope) => scope === 'admin:read' || scope === 'admin:write');

/** The members whose values differ from the present ones. */
function changed<T extends object>(before: object, changes: T): Partial<T> {
  const now = before as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(changes).filter(
      ([name, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(now[name]),
    ),
  ) as Partial<T>;
}

/**
 * Whether a change gives someone an operator role or takes it, or opens the account to the person who makes it, or closes a way
 * into it. Disabling is not among them: it stops an attack.
 */
const userPowersIn = (before: UserEntity, wanted: UserChanges): boolean =>
  wanted.role !== undefined ||
  wanted.operatorRole !== undefined ||
  wanted.password !== undefined ||
  wanted.email !== undefined ||
  wanted.enabled === true ||
  (wanted.emailVerified ?? isVerified(before)) !== isVerified(before);

const isVerified = ({ emailVerifiedAt }: UserEntity): boolean => emailVerifiedAt !== null;

/** Whoever has the key of a client, or a secret that it gets, is the client. */
const CREDENTIALS = ['tokenEndpointAuthMethod', 'jwks', 'jwksUri'] as const;

const clientPowersIn = (wanted: ClientChanges): boolean =>
  wanted.enabled === true ||
  wanted.companyService === true ||
  CREDENTIALS.some((name) => wanted[name] !== undefined);

/** Throws a 409 problem if anything else changes than these. */
function onlyThese<T extends object>(wanted: T, names: readonly (keyof T)[], what: string): void {
  const others = (Object.keys(wanted) as (keyof T)[]).filter((name) => !names.includes(name));
  if (others.length > 0) throw conflict(`A second admin approves ${what}, and the rest separately.`);
}
