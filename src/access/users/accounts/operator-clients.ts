import { Injectable } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import type { OperatorRole } from '#platform/config/operator-role.js';

/** What accounts need from the clients module about live clients with operator scopes (contract §17). */
export interface ClientsOfOperators {
  /** The current operator role of the client, locked until the transaction ends; null if none. */
  roleOf(clientId: string): Promise<OperatorRole | null>;
  /** Which of the users own such a client, or are admins of an organisation that does. */
  behindOne(userIds: string[]): Promise<string[]>;
  /** Disables those of an owner who is no longer an operator, and ends their tokens, unless they are services of the company. */
  endOf(ownerId: string, actor: Actor): Promise<void>;
}

/** The port through which accounts reach the clients of operators, in the same transaction. */
@Injectable()
export class OperatorClients {
  private part!: ClientsOfOperators;

  /** Called once by the module of the clients. */
  register(part: ClientsOfOperators): void {
    this.part = part;
  }

  roleOf(clientId: string): Promise<OperatorRole | null> {
    return this.part.roleOf(clientId);
  }

  behindOne(userIds: string[]): Promise<string[]> {
    return this.part.behindOne(userIds);
  }

  endOf(ownerId: string, actor: Actor): Promise<void> {
    return this.part.endOf(ownerId, actor);
  }
}
