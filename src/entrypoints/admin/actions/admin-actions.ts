import { Injectable } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { ClientSecretsService, type RotatedSecret } from '#access/clients/client-secrets.service.js';
import type { ClientChanges, NewClient } from '#access/clients/client.resource.js';
import { ClientsService, type ClientUpdate, type RegisteredClient } from '#access/clients/clients.service.js';
import { conflict } from '#platform/http/problems/problem.js';
import { say } from '#platform/language/text.js';
import { IdentitiesService } from '#access/identity-providers/identities.service.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import type { UserChanges } from '#access/users/accounts/user.resource.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { UsersService, type ChangeCheck } from '#access/users/accounts/users.service.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';

/** The services that the actions call. */
@Injectable()
export class ActionServices {
  constructor(
    readonly users: UsersService,
    readonly clients: ClientsService,
    readonly secrets: ClientSecretsService,
    readonly passwordLinks: PasswordLinksService,
    readonly factors: SecondFactorService,
    readonly identities: IdentitiesService,
    private readonly protection: OperatorProtectionService,
  ) {}

  /**
   * Whether the user counts as an operator and is not the actor. A client is never the same person, not even on the account of
   * its owner.
   */
  async isAnother(user: UserEntity, actor: Actor): Promise<boolean> {
    if (actor.type === 'user' && actor.id === user.id) return false;
    return this.protection.counts(user);
  }
}

/** One call of an action. `once`: identifies the form that was posted, or what it showed; a second post does nothing. */
interface Call<Input> {
  id: string;
  input: Input;
  actor: Actor;
  once?: string;
}

/** What a second admin is asked for: the details of this action, or of another one. */
export interface Need {
  action?: 'user.make_admin';
  details: object | null;
}

/** What an approved action created, shown once to the person who approved it; it is not stored. */
export type ShownOnApproval =
  | { passwordLink: string }
  | { secret: string; isNew: boolean; previousSecretExpiresAt: Date | null };

/** An action that may wait for a second admin. `Before` is what its work knows under its locks. */
interface AdminAction<Input, Result, Before extends unknown[] = []> {
  /** In the console. */
  title: string;
  /** In the data of the person whom it is about, or who asked for it. */
  words: string;
  /** Whether a second admin has to approve it; undefined if not. */
  needs(
    services: ActionServices,
    call: Call<Input>,
    ...before: Before
  ): Need | undefined | Promise<Need | undefined>;
  /** Does it, for whoever asks or approves. Calls `check` in its transaction, which throws if it has to wait. */
  work(
    services: ActionServices,
    call: Call<Input>,
    check: (...before: Before) => Promise<void>,
  ): Promise<Result>;
  shown?(result: Result): ShownOnApproval | undefined;
}

const action = <Input, Result = void, Before extends unknown[] = []>(
  one: AdminAction<Input, Result, Before>,
): AdminAction<Input, Result, Before> => one;

/** The hash of a password that was asked for: kept while it waits, and never shown. */
export const PASSWORD_HASH = 'password_hash';

/** The actions that may wait for a second admin (contract §17). */
export const ADMIN_ACTIONS = {
  'user.erase': action<object>({
    title: 'Erase user',
    words: say('Delete the account'),
    needs: () => ({ details: null }),
    work: ({ users }, { id, actor }, check) => users.erase(id, actor, check),
  }),
  'user.make_admin': action<{ email?: string }, UserEntity>({
    title: 'Make admin',
    words: say('Give the account the role admin'),
    needs: () => undefined,
    work: async ({ users }, { id, input: { email }, actor }) => {
      const admin = { role: 'operator', operatorRole: 'admin' } as const;
      const after = await users.update(id, admin, actor);
      // If the address has changed, the new admin's account could be opened by someone else.
      if (email !== undefined && email !== after.email) {
        throw conflict(
          'This user has another email address than when this was asked for. Reject it and ask again.',
        );
      }
      return after;
    },
  }),
  /**
   * A change waits if it makes an admin, if it could take over the account of another operator or shut that person out of it
   * (password, address, role, enabling), or if it would leave one enabled admin, who could not get anything approved. Such a change
   * must be requested alone (otherwise a 409 problem), because nothing is done until it is approved.
   */
  'user.update': action<UserChanges & { [PASSWORD_HASH]?: string }, UserEntity, Parameters<ChangeCheck>>({
    title: 'Change operator',
    words: say('Change the account'),
    needs: async (services, { input, actor }, before, after, adminsLeft = ADMINS_NEEDED) => {
      const wanted = changed(before, input);
      if (before.operatorRole !== 'admin' && after.operatorRole === 'admin') {
        onlyThese(wanted, ['role', 'operatorRole'], 'new admins: change the role alone');
        return { action: 'user.make_admin', details: { email: before.email } };
      }
      if (userPowersIn(before, wanted) && (await services.isAnother(before, actor))) {
        onlyThese(wanted, OF_OPERATORS, 'what opens the account of an operator: change it alone');
        return { details: wanted };
      }
      if (adminsLeft >= ADMINS_NEEDED) return undefined;
      onlyThese(wanted, OF_OPERATORS, 'what leaves one admin alone: change it alone');
      return { details: wanted };
    },
    work: ({ users }, { id, input: { [PASSWORD_HASH]: passwordHash, ...changes }, actor }, check) =>
      users.update(id, { ...changes, passwordHash }, actor, check),
  }),
  /** A link to set another operator's password waits; it is shown to the person who approves. */
  'user.create_password_link': action<object, string | undefined>({
    title: 'Create password link',
    words: say('Make a link to set a password'),
    needs: (services, call) => onAnother(services, call),
    work: ({ passwordLinks }, { id, actor, once }, check) =>
      once === undefined
        ? passwordLinks.create(id, actor, check)
        : passwordLinks.createOnce(once, id, actor, check),
    shown: (passwordLink) => ({ passwordLink: passwordLink! }),
  }),
  /** `own`: whose factor the one who asks must not reset. */
  'user.reset_second_factor': action<{ own?: string }>({
    title: 'Reset second factor',
    words: say('Remove passkeys, authenticator app and recovery codes'),
    needs: (services, call) => onAnother(services, call),
    work: ({ factors }, { id, input: { own }, actor }, check) => factors.reset(id, own, actor, check),
  }),
  'user.remove_identity': action<{ provider: string }>({
    title: 'Remove link to identity provider',
    words: say('Remove a login through another service'),
    needs: (services, call) => onAnother(services, call, call.input),
    work: ({ identities }, { id, input: { provider }, actor }, check) =>
      identities.remove(id, provider, actor, check),
  }),
  /** A client of the admin API waits; its secret is shown to the person who approves. */
  'client.create': action<NewClient, RegisteredClient | undefined, [ClientEntity]>({
    title: 'Create client',
    words: say('Create an application'),
    needs: onAdminClient,
    work: ({ clients }, { id, input, actor, once }, check) =>
      once === undefined
        ? clients.register(id, input, actor, check)
        : clients.createOnce(id, input, actor, check),
    shown: (done) =>
      done?.secret === undefined
        ? undefined
        : { secret: done.secret, isNew: true, previousSecretExpiresAt: null },
  }),
  /** Giving a client of the admin API more power waits: enabling it, making it a service of the company, or how it authenticates. */
  'client.update': action<ClientUpdate, RegisteredClient, [ClientEntity]>({
    title: 'Change client',
    words: say('Change an application'),
    needs: (_services, { input }, before) => {
      const wanted = changed(before, input);
      if (!isAdminClient(before) || !clientPowersIn(wanted)) return undefined;
      onlyThese(
        wanted,
        ['enabled', 'companyService', ...CREDENTIALS],
        'what gives a client of the admin API power: change it alone',
      );
      return { details: wanted };
    },
    work: ({ clients }, { id, input, actor }, check) => clients.update(id, input, actor, check),
    shown: ({ secret }) =>
      secret === undefined ? undefined : { secret, isNew: false, previousSecretExpiresAt: null },
  }),
  /** A new secret for a client of the admin API waits; it is shown to the person who approves. */
  'client.rotate_secret': action<{ expirePreviousIn: number }, RotatedSecret | undefined, [ClientEntity]>({
    title: 'Rotate secret',
    words: say('Make a new secret for an application'),
    needs: onAdminClient,
    work: ({ secrets }, { id, input: { expirePreviousIn }, actor, once }, check) =>
      once === undefined
        ? secrets.rotate(id, expirePreviousIn, actor, check)
        : secrets.rotateOnce(id, once, expirePreviousIn, actor, check),
    shown: (done) => ({ ...done!, isNew: false }),
  }),
  'client.delete': action<object>({
    title: 'Delete client',
    words: say('Delete an application'),
    needs: () => ({ details: null }),
    work: ({ clients }, { id, actor }, check) => clients.delete(id, actor, check),
  }),
};

type Actions = typeof ADMIN_ACTIONS;
export type ApprovalAction = keyof Actions;
export const APPROVAL_ACTIONS = Object.keys(ADMIN_ACTIONS) as ApprovalAction[];

type WorkOf<A extends ApprovalAction> = Actions[A]['work'];
export type InputOf<A extends ApprovalAction> = Parameters<WorkOf<A>>[1]['input'];
export type ResultOf<A extends ApprovalAction> = Awaited<ReturnType<WorkOf<A>>>;

/** The row of an action. The compiler does not see that the members of one row belong together once `action` is a variable. */
export const actionOf = <A extends ApprovalAction>(action: A) =>
  ADMIN_ACTIONS[action] as unknown as AdminAction<InputOf<A>, ResultOf<A>, unknown[]>;

/** With fewer enabled admins nothing could be approved: one asks, another approves. */
const ADMINS_NEEDED = 2;

/** What of an operator can be asked for together. */
const OF_OPERATORS = ['role', 'operatorRole', 'email', 'emailVerified', 'enabled', 'password'] as const;

/** What concerns another operator waits. */
async function onAnother(
  services: ActionServices,
  { id, actor }: Call<object>,
  details: object | null = null,
): Promise<Need | undefined> {
  const user = await services.users.hold(id);
  return user && (await services.isAnother(user, actor)) ? { details } : undefined;
}

/** What concerns a client of the admin API waits. */
function onAdminClient(
  _services: ActionServices,
  { input }: Call<object>,
  client: ClientEntity,
): Need | undefined {
  return isAdminClient(client) ? { details: { ...input } } : undefined;
}

/** Whether the client can use the admin API. */
const isAdminClient = ({ scopes }: ClientEntity): boolean =>
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

/** Whoever has the key of a client, or a secret that it gets, is the client. */
const CREDENTIALS = ['tokenEndpointAuthMethod', 'jwks', 'jwksUri'] as const;

const clientPowersIn = (wanted: ClientChanges): boolean =>
  wanted.enabled === true ||
  wanted.companyService === true ||
  CREDENTIALS.some((name) => wanted[name] !== undefined);

const isVerified = ({ emailVerifiedAt }: UserEntity): boolean => emailVerifiedAt !== null;

/** Throws a 409 problem if anything else changes than these. */
function onlyThese(wanted: object, names: readonly string[], what: string): void {
  if (Object.keys(wanted).some((name) => !names.includes(name)))
    throw conflict(`A second admin approves ${what}, and the rest separately.`);
}
