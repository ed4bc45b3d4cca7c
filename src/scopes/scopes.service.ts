import { Injectable } from '@nestjs/common';
import { DataSource, In, type EntityManager } from 'typeorm';
import { AuditService, changesBetween, type Actor } from '../audit/audit.service.js';
import { Transactions } from '../database/transactions.js';
import { conflict, notFound } from '../http/problem.js';
import { OPERATOR_SCOPES, ScopeEntity } from './scope.entity.js';

/** The scope catalogue: names, the words shown to users, and whom a scope is for. */
@Injectable()
export class ScopesService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  /** Every scope, by name. */
  list(): Promise<ScopeEntity[]> {
    return this.dataSource.manager.find(ScopeEntity, { order: { name: 'ASC' } });
  }

  /** The scopes with these names, in the order of the names; unknown names are left out. */
  async describe(names: string[], manager: EntityManager = this.dataSource.manager): Promise<ScopeEntity[]> {
    const found = await manager.findBy(ScopeEntity, { name: In(names) });
    return names.flatMap((name) => found.filter((scope) => scope.name === name));
  }

  /** The scope; throws a 404 problem. */
  async get(name: string): Promise<ScopeEntity> {
    const scope = await this.dataSource.manager.findOneBy(ScopeEntity, { name });
    if (!scope) throw notFound('There is no scope with this name.');
    return scope;
  }

  /**
   * Makes or changes a scope. Its audience cannot change while a client holds it, or where it is
   * one of this service's own operator scopes (409): what such a client may be
   * depends on it.
   */
  async put(scope: ScopeEntity, actor: Actor): Promise<{ scope: ScopeEntity; created: boolean }> {
    return this.transactions.run(async (manager) => {
      const inserted: unknown[] = await manager.query(
        'INSERT INTO scopes (name, description, audience) VALUES ($1, $2, $3) ON CONFLICT (name) DO NOTHING RETURNING 1',
        [scope.name, scope.description, scope.audience],
      );
      const created = inserted.length === 1;
      // Clients take a share lock on the scopes that they are registered with, so this one waits for them.
      const before = await manager.findOneOrFail(ScopeEntity, {
        where: { name: scope.name },
        lock: { mode: 'pessimistic_write' },
      });
      const difference = changesBetween({ ...before }, { ...scope });
      if (before.audience !== scope.audience) await this.refuseNewAudience(manager, scope.name);
      if (difference) await manager.update(ScopeEntity, { name: scope.name }, scope);
      if (created || difference) {
        await this.audit.record(manager, actor, {
          action: created ? 'scope.created' : 'scope.updated',
          subjectType: 'scope',
          subjectId: scope.name,
          ...(created ? { after: { ...scope } } : difference),
        });
      }
      return { scope, created };
    });
  }

  /** Reads the catalogue and holds it as it is until the transaction ends. */
  listAndHold(manager: EntityManager): Promise<ScopeEntity[]> {
    return manager.find(ScopeEntity, { lock: { mode: 'pessimistic_read' } });
  }

  private async refuseNewAudience(manager: EntityManager, name: string): Promise<void> {
    if (OPERATOR_SCOPES.includes(name))
      throw conflict('This scope is for operators; its audience cannot change.');
    const holders: unknown[] = await manager.query('SELECT 1 FROM clients WHERE $1 = ANY (scopes) LIMIT 1', [
      name,
    ]);
    if (holders.length > 0) throw conflict('A client holds this scope, so its audience cannot change.');
  }
}
