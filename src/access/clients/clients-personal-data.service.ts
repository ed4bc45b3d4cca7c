import { Injectable } from '@nestjs/common';
import { Answers } from '#platform/database/domain/domain-map.js';
import { say } from '#platform/language/text.js';
import { section } from '#access/users/accounts/personal-data.js';
import { ClientsRepository } from './clients.repository.js';

/** The clients that a person owns. */
@Injectable()
export class ClientsPersonalData {
  constructor(private readonly clients: ClientsRepository) {}

  @Answers('user.personal_data')
  ownedApplications() {
    return section({
      name: 'owned_applications',
      place: 91,
      title: say('Applications that you own'),
      about: say('The applications of partners that are registered for your account.'),
      read: async (userId: string, limit: number) => {
        const found = await this.clients.listOf(userId, limit);
        return found.map((client) => ({
          client_id: client.id,
          name: client.name,
          type: client.type,
          environment: client.environment,
          redirect_uris: client.redirectUris,
          enabled: client.enabled,
          created_at: client.createdAt,
        }));
      },
      columns: {
        [say('Name')]: ({ name }) => name,
        [say('Created')]: ({ created_at: at }) => at,
      },
    });
  }
}
