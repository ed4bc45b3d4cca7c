import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService, changesBetween, type Actor } from '../audit/audit.service.js';
import { auditViewOf } from '../audit/audit-view.js';
import { Transactions } from '../database/queries/transactions.js';
import { conflict, notFound } from '../http/problems/problem.js';
import { OPERATOR_SCOPES, ScopeEntity } from './scope.entity.js';
import { ScopesRepository } from './scopes.repository.js';

/** The scope catalogue: names, descriptions for users, and audiences. */
@Injectable()
export class ScopesService {
  constructor(
    private readonly repository: ScopesRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  /** All scopes, by name. */
  list(): Promise<ScopeEntity[]> {
    return this.repository.list();
  }

  /** The scopes with these names, ordered by name; unknown names are omitted. */
  async describe(names: string[], manager?: EntityManager): Promise<ScopeEntity[]> {
    const found = await this.repository.findNamed(names, manager);
    return names.flatMap((name) => found.filter((scope) => scope.name === name));
  }

  /** The scope; throws a 404 problem. */
  async get(name: string): Promise<ScopeEntity> {
    const scope = await this.repository.find(name);
    if (!scope) throw notFound('There is no scope with this name.');
    return scope;
  }

  /**
   * Creates or updates a scope. Its audience cannot change while a client holds it, or if it is one of this service's own
   * operator scopes (409), because the rules for such a client depend on it.
   */
  async put(scope: ScopeEntity, actor: Actor): Promise<{ scope: ScopeEntity; created: boolean }> {
    return this.transactions.run(async (manager) => {
      const created = await this.repository.insertNew(manager, scope);
      const before = await this.repository.lock(manager, scope.name);
      const difference = changesBetween(auditView(before), auditView(scope));
      if (before.audience !== scope.audience) await this.refuseNewAudience(manager, scope.name);
      if (difference) await this.repository.update(manager, scope);
      if (created || difference) {
        await this.audit.record(manager, actor, {
          action: created ? 'scope.created' : 'scope.updated',
          subjectType: 'scope',
          subjectId: scope.name,
          ...(created ? { after: auditView(scope) } : difference),
        });
      }
      return { scope, created };
    });
  }

  /** Reads the catalogue and locks it until the transaction ends. */
  listAndHold(manager: EntityManager): Promise<ScopeEntity[]> {
    return this.repository.listAndHold(manager);
  }

  private async refuseNewAudience(manager: EntityManager, name: string): Promise<void> {
    if (OPERATOR_SCOPES.includes(name))
      throw conflict('This scope is for operators; its audience cannot change.');
    if (await this.repository.isHeld(manager, name)) {
      throw conflict('A client holds this scope, so its audience cannot change.');
    }
  }
}

const auditView = auditViewOf(
  ScopeEntity,
  { name: 'name', description: 'description', audience: 'audience' },
  { number: 'assigned by the database, and never changes' },
);
