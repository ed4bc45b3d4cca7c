import { Injectable } from '@nestjs/common';
import { DataSource, In, type EntityManager } from 'typeorm';
import { AuditService, changesBetween, type Actor } from '../audit/audit.service.js';
import { Transactions } from '../database/transactions.js';
import { conflict, notFound } from '../http/problem.js';
import { OPERATOR_SCOPES, ScopeEntity } from './scope.entity.js';

/** The scope catalogue: names, descriptions for users, and audiences. */
@Injectable()
export class ScopesService {
  constructor(
    private readonly dataSource: DataSource,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  /** All scopes, by name. */
  list(): Promise<ScopeEntity[]> {
    return this.dataSource.manager.find(ScopeEntity, { order: { name: 'ASC' } });
  }

  /** The scopes with these names, ordered by name; unknown names are omitted. */
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
   * Creates or updates a scope. Its audience cannot change while a client holds it, or if it is one of this service's own
   * operator scopes (409), because the rules for such a client depend on it.
   */
  async put(scope: ScopeEntity, actor: Actor): Promise<{ scope: ScopeEntity; created: boolean }> {
    return this.transactions.run(async (manager) => {
      const inserted: unknown[] = await manager.query(
        // Only a new scope takes a number.
        `INSERT INTO scopes (name, description, audience)
         SELECT $1, $2, $3 WHERE NOT EXISTS (SELECT 1 FROM scopes WHERE name = $1)
         ON CONFLICT (name) DO NOTHING RETURNING 1`,
        [scope.name, scope.description, scope.audience],
      );
      const created = inserted.length === 1;
      // Clients take a share lock on the scopes they are registered with, so this waits for them.
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

  /** Reads the catalogue and locks it until the transaction ends. */
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
