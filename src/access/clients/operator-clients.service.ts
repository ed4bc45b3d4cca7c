import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import type { OperatorRole } from '#platform/config/operator-role.js';
import { validationFailed } from '#platform/http/problems/problem.js';
import type { ScopeEntity } from '#access/scopes/scope.entity.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import { Answers, OnDomainEvent } from '#platform/database/domain/domain-map.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { hasOperatorScope } from './client-rules.js';
import type { ClientEntity } from './client.entity.js';
import { OperatorClientsRepository } from './operator-clients.repository.js';
import { violation } from '#platform/http/problems/violation.js';

type Shape = Pick<ClientEntity, 'ownerId' | 'scopes' | 'enabled' | 'companyService'>;

/**
 * Who is responsible for a client with operator scopes (contract §17): an operator, whose current role limits it, or the company.
 * When neither is any more, the client is disabled and its tokens are revoked.
 */
@Injectable()
export class OperatorClientsService {
  constructor(
    private readonly repository: OperatorClientsRepository,
    private readonly users: UsersService,
    private readonly protection: OperatorProtectionService,
    private readonly events: DomainEvents,
    private readonly audit: AuditService,
  ) {}

  @Answers('client.operator_role')
  roleOf(clientId: string): Promise<OperatorRole | null> {
    return this.repository.roleOf(clientId);
  }

  @Answers('users.behind_operator_clients')
  behindOne(userIds: string[]): Promise<string[]> {
    return this.repository.behindOne(userIds);
  }

  /** Disables the clients of an owner who is no longer an operator, and ends their tokens, unless they are services of the company. */
  @OnDomainEvent('operator.ended', 1)
  async endOf(ownerId: string, actor: Actor): Promise<void> {
    for (const id of await this.repository.lockPersonal(ownerId)) {
      await this.repository.disable(id);
      await this.events.say('client.access_ended', id, 'client_disabled');
      await this.audit.record(actor, {
        action: 'client.updated',
        subjectId: id,
        before: { enabled: true },
        after: { enabled: false },
      });
    }
  }

  /**
   * For a client that begins to work, or whose mark changes: throws a 400 problem with `field_errors` if it has operator scopes
   * and nobody is responsible for it, and a 403 problem unless the actor is still an admin. The owner's role stays as it is until
   * the transaction ends.
   */
  async requireBacking(client: Shape, catalogue: ScopeEntity[], actor: Actor): Promise<void> {
    if (!hasOperatorScope(client, catalogue)) return;
    await this.protection.requireAdmin(actor);
    if (!client.enabled || client.companyService) return;
    const owner = await this.users.hold(client.ownerId);
    // An unknown owner is refused when the client is inserted.
    if (owner && owner.operatorRole === null) {
      throw validationFailed({
        company_service: [violation('missing_company_service')],
      });
    }
  }
}
