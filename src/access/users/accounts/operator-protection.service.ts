import { Injectable } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import { DomainQuestions } from '#platform/database/domain/domain-questions.service.js';
import { isInTransaction } from '#platform/database/queries/transaction-around.js';
import { roleNeeded } from '#platform/config/operator-role.js';
import { roleTooLow } from '#platform/http/problems/problem.js';
import { ActorsService } from '../sessions/actors.service.js';
import { isAdmin } from './user-changes.js';
import type { UserEntity } from './user.entity.js';
import { UsersRepository } from './users.repository.js';

/**
 * Whether the actor is neither an admin, nor a client of one, nor the service itself (contract §17). A missing or unknown role
 * counts as limited.
 */
export const isLimited = ({ type, operatorRole }: Actor): boolean =>
  type !== 'service' && operatorRole !== 'admin';

/** Throws a 403 problem for someone who is not an admin and gives someone a role, a password or the webhook portal. */
export function refuseGivingPower(
  actor: Actor,
  before: Pick<UserEntity, 'role' | 'webhooksEnabled'>,
  after: Pick<UserEntity, 'role' | 'webhooksEnabled'>,
  givesPassword: boolean,
): void {
  if (!isLimited(actor)) return;
  const refused =
    after.role === 'operator' || givesPassword || after.webhooksEnabled !== before.webhooksEnabled;
  if (refused) {
    throw roleTooLow(
      `You may change a user's email, name, language and kind, and enable or disable it. ${roleNeeded('admin')}`,
    );
  }
}

/** Who counts as an operator, and who may act on one (contract §17). */
@Injectable()
export class OperatorProtectionService {
  constructor(
    private readonly users: UsersRepository,
    private readonly questions: DomainQuestions,
    private readonly actors: ActorsService,
  ) {}

  /** An operator, and everyone who stands behind a client with operator scopes: its owner, and the admins of the owner's organisation. */
  async counts(user: Pick<UserEntity, 'id' | 'role' | 'environment'>): Promise<boolean> {
    if (user.role === 'operator') return true;
    return (
      user.environment === 'live' &&
      (await this.questions.ask('users.behind_operator_clients', [user.id])).length > 0
    );
  }

  /** The ids of those among the users who count as operators, by one query. */
  async operatorsAmong(users: readonly Pick<UserEntity, 'id' | 'role'>[]): Promise<ReadonlySet<string>> {
    const operators = users.filter(({ role }) => role === 'operator');
    const behind = await this.questions.ask(
      'users.behind_operator_clients',
      users.map(({ id }) => id),
    );
    return new Set([...operators.map(({ id }) => id), ...behind]);
  }

  /** The same for the user with this id; false if not found. */
  async countsById(id: string): Promise<boolean> {
    const user = await this.users.findById(id);
    return user !== null && this.counts(user);
  }

  /** If the user counts as an operator, throws a 403 problem for everyone except admins and the user. */
  async refuse(actor: Actor, user: UserEntity): Promise<void> {
    if (!isLimited(actor) || isOwn(actor, user.id)) return;
    if (await this.counts(user)) {
      throw roleTooLow(`This user is an operator. ${roleNeeded('admin')}`);
    }
  }

  /**
   * The same for the user with this id. In a transaction, the user's role stays as it is until it ends. `others`: ids of clients
   * that act on what is theirs. No query for admins, and for one's own account.
   */
  async refuseOn(actor: Actor, id: string, others: string[] = []): Promise<void> {
    if (!isLimited(actor) || [id, ...others].some((own) => isOwn(actor, own))) return;
    const user = isInTransaction() ? await this.users.hold(id) : await this.users.findById(id);
    if (user) await this.refuse(actor, user);
  }

  /** Throws a 403 problem unless the actor is still an admin, or the client of one, and stays so until the transaction ends. */
  async requireAdmin(actor: Actor): Promise<void> {
    if (actor.type === 'service') return;
    const isStill = !isLimited(actor) && (actor.type === 'client' || (await this.isStillAdmin(actor)));
    // Of a client this checks the role.
    await this.actors.requireLive(actor);
    if (!isStill) throw roleTooLow(roleNeeded('admin'));
  }

  /** Whether this is an enabled admin, or the client of one or of the company; it stays so until the transaction ends. */
  async isStillAdmin({ type, id }: Pick<Actor, 'type' | 'id'>): Promise<boolean> {
    if (id === null) return false;
    if (type === 'client') return (await this.questions.ask('client.operator_role', id)) === 'admin';
    const operator = await this.users.hold(id);
    return operator !== null && isAdmin(operator);
  }
}

/** Whether the actor acts on their own account or clients rather than as an operator. */
const isOwn = ({ id, operatorRole }: Actor, subjectId: string): boolean =>
  operatorRole === undefined && id === subjectId;
