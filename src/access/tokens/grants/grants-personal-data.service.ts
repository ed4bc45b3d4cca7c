import { Injectable } from '@nestjs/common';
import { Answers } from '#platform/database/domain/domain-map.js';
import { say } from '#platform/language/text.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { recordOf, section } from '#access/users/accounts/personal-data.js';
import { GrantsRepository } from './grants.repository.js';

/** The access that applications got with a person's agreement. */
@Injectable()
export class GrantsPersonalData {
  constructor(
    private readonly grants: GrantsRepository,
    private readonly clients: ClientsService,
  ) {}

  @Answers('user.personal_data')
  grantsOf() {
    return section({
      name: 'grants',
      place: 30,
      title: say('Access of applications'),
      about: say('Each time that you let an application in. Its tokens are not stored.'),
      read: (userId: string, limit: number) => this.read(userId, limit),
      columns: {
        [say('Application')]: ({ application }) => application,
        [say('Began')]: ({ created_at: at }) => at,
        [say('Last used')]: ({ last_used_at: at }) => at,
        [say('Ends at the latest')]: ({ expires_at: at }) => at,
        [say('Ended')]: ({ revoked_at: at }) => at,
      },
    });
  }

  private async read(userId: string, limit: number) {
    const found = await this.grants.listOf(userId, limit);
    const names = await this.clients.namesById(found.map(({ clientId }) => clientId));
    return found.map((grant) => ({
      application: names.get(grant.clientId) ?? null,
      last_used_at: grant.issuedAt,
      ...recordOf(
        grant,
        'id',
        'clientId',
        'scopes',
        'createdAt',
        'expiresAt',
        'revokedAt',
        'revocationReason',
      ),
    }));
  }
}
