import { Injectable } from '@nestjs/common';
import { inWords } from '#access/users/accounts/own-words.js';
import { recordOf, section } from '#access/users/accounts/personal-data.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { say } from '#platform/language/text.js';
import { RedirectUriRequestsRepository } from './redirect-uri-requests.repository.js';

/** What a person asked for. */
@Injectable()
export class RedirectUriRequestsPersonalData {
  constructor(private readonly requests: RedirectUriRequestsRepository) {}

  @Answers('user.personal_data')
  askedFor() {
    return section({
      name: 'redirect_uri_requests',
      place: 92,
      title: say('Changes that you asked for in the webhook portal'),
      about: say('Redirect URIs that you asked us to register or to remove.'),
      read: async (userId: string, limit: number) => {
        const found = await this.requests.listBy(userId, limit);
        return found.map((request) =>
          recordOf(request, 'id', 'clientId', 'action', 'uri', 'state', 'requestedAt', 'decidedAt'),
        );
      },
      columns: {
        [say('Redirect URI')]: ({ uri }) => uri,
        [say('What')]: ({ action }) => inWords(action),
        [say('State')]: ({ state }) => inWords(state),
        [say('Asked')]: ({ requested_at: at }) => at,
      },
    });
  }
}
