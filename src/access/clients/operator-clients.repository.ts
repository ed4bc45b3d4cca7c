import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import type { OperatorRole } from '#platform/config/operator-role.js';
import { requireTransaction } from '#platform/database/queries/transaction-around.js';
import { ClientEntity } from './client.entity.js';
import { HAS_OPERATOR_SCOPE, OPERATOR_ROLE } from './operator-role.sql.js';

/** Clients with operator scopes. In SQL: joins over several modules' tables. */
@Injectable()
export class OperatorClientsRepository {
  constructor(@InjectRepository(ClientEntity) private readonly clients: Repository<ClientEntity>) {}

  /** The operator role of an enabled client, which is locked with its owner until the transaction ends. */
  async roleOf(clientId: string): Promise<OperatorRole | null> {
    requireTransaction('A lock that is to last');
    const [row]: { role: OperatorRole | null }[] = await this.clients.manager.query(
      `SELECT ${OPERATOR_ROLE} AS role FROM clients c JOIN users o ON o.id = c.owner_id
        WHERE c.id = $1 AND c.enabled AND o.enabled FOR SHARE OF c, o`,
      [clientId],
    );
    return row?.role ?? null;
  }

  /** Which of the users own a live client, or are admins of an organisation that owns one. */
  async behindOne(userIds: string[]): Promise<string[]> {
    const rows: { id: string }[] = await this.clients.manager.query(
      `SELECT u.id FROM unnest($1::text[]) AS u (id) WHERE EXISTS (
         SELECT FROM clients c
          WHERE c.environment = 'live' AND ${HAS_OPERATOR_SCOPE}
            AND c.owner_id = ANY (ARRAY(
              SELECT organisation_id FROM organisation_members WHERE user_id = u.id AND role = 'admin') || u.id)
       )`,
      [userIds],
    );
    return rows.map(({ id }) => id);
  }

  /** The owner's enabled ones that are no services of the company, in the order of their ids, locked until the transaction ends. */
  async lockPersonal(ownerId: string): Promise<string[]> {
    requireTransaction('A lock that is to last');
    const rows: { id: string }[] = await this.clients.manager.query(
      `SELECT c.id FROM clients c
        WHERE c.owner_id = $1 AND c.enabled AND NOT c.company_service AND ${HAS_OPERATOR_SCOPE}
        ORDER BY c.id FOR NO KEY UPDATE OF c`,
      [ownerId],
    );
    return rows.map(({ id }) => id);
  }

  async disable(id: string): Promise<void> {
    await this.clients.update({ id }, { enabled: false, updatedAt: () => 'now()' });
  }
}
