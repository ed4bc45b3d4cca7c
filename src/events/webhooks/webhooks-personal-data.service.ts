import { Injectable } from '@nestjs/common';
import { Answers } from '#platform/database/domain/domain-map.js';
import { say } from '#platform/language/text.js';
import type { Language } from '#platform/language/languages.js';
import { scopeWordsIn } from '#access/scopes/scope.entity.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { inMembers, inWords } from '#access/users/accounts/own-words.js';
import { section } from '#access/users/accounts/personal-data.js';
import { wordsOf } from '#access/users/accounts/words-of-names.js';
import { EventTypesService } from './event-types/event-types.service.js';
import { EventsRepository } from './events/events.repository.js';

/** Events about a person and who received them. */
@Injectable()
export class WebhooksPersonalData {
  constructor(
    private readonly events: EventsRepository,
    private readonly types: EventTypesService,
    private readonly clients: ClientsService,
  ) {}

  @Answers('user.personal_data')
  eventsAbout() {
    return section({
      name: 'events',
      place: 25,
      title: say('Your charging data'),
      about: say(
        'What we were told about your vehicles and charging sessions lately, and which applications got it.',
      ),
      read: async (userId: string, limit: number, language: Language) => {
        const found = await this.events.listAbout(userId, limit);
        const types = await this.types.list();
        const words = new Map(types.map((type) => [type.name, scopeWordsIn(type, language)]));
        const names = await this.clients.namesById(found.flatMap(({ clientIds }) => clientIds));
        return found.map(({ id, type, createdAt, payload, clientIds }) => ({
          id,
          type,
          description: words.get(type) ?? null,
          at: createdAt,
          data: payload === null ? null : (JSON.parse(payload) as { data?: object }).data,
          delivered_to: clientIds.map((clientId) => ({
            client_id: clientId,
            application: names.get(clientId) ?? null,
          })),
        }));
      },
      columns: {
        [say('What')]: ({ type, description }) => (wordsOf(type) ? inWords(type) : description),
        [say('When')]: ({ at }) => at,
        // What was agreed to is shown with the applications.
        [say('Data')]: ({ type, data }) => (type.startsWith('user.') || !data ? undefined : inMembers(data)),
        [say('Got by')]: ({ delivered_to: to }) =>
          to.map(({ application, client_id: id }) => application ?? id),
      },
    });
  }
}
