import { Injectable } from '@nestjs/common';
import { Answers } from '#platform/database/domain/domain-map.js';
import { say } from '#platform/language/text.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { section } from '#access/users/accounts/personal-data.js';
import { RateLimitNotificationsRepository } from './rate-limit-notifications.repository.js';

/** When applications exceeded the rate limit for a person's data. */
@Injectable()
export class RateLimitsPersonalData {
  constructor(
    private readonly periods: RateLimitNotificationsRepository,
    private readonly clients: ClientsService,
  ) {}

  @Answers('user.personal_data')
  tooManyRequests() {
    return section({
      name: 'too_many_requests',
      place: 33,
      title: say('Applications that asked too often'),
      about: say('Applications whose requests for your data were refused for a while.'),
      read: async (userId: string, limit: number) => {
        const found = await this.periods.listOf(userId, limit);
        const names = await this.clients.namesById(found.map(({ clientId }) => clientId));
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
    });
  }
}
