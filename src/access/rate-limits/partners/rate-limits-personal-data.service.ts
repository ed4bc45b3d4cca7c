import { Injectable } from '@nestjs/common';
import { say } from '#platform/language/text.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { PersonalData, section } from '#access/users/accounts/personal-data.js';
import { RateLimitNotificationsRepository } from './rate-limit-notifications.repository.js';

/** When applications exceeded the rate limit for a person's data. */
@Injectable()
export class RateLimitsPersonalData {
  constructor(periods: RateLimitNotificationsRepository, clients: ClientsService, data: PersonalData) {
    data.add(
      section({
        name: 'too_many_requests',
        place: 33,
        title: say('Applications that asked too often'),
        about: say('Applications whose requests for your data were refused for a while.'),
        read: async (userId: string, limit: number) => {
          const found = await periods.listOf(userId, limit);
          const names = await clients.namesById(found.map(({ clientId }) => clientId));
          return found.map(({ clientId, endsAt }) => ({
            client_id: clientId,
            application: names.get(clientId) ?? null,
            until: endsAt,
          }));
        },
        columns: {
          [say('Application')]: ({ application }) => application,
          [say('Until')]: ({ until }) => until,
        },
      }),
    );
  }
}
