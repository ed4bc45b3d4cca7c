import { Injectable } from '@nestjs/common';
import { Answers } from '#platform/database/domain/domain-map.js';
import { say } from '#platform/language/text.js';
import { recordOf, section } from '#access/users/accounts/personal-data.js';
import { IdentitiesService } from './identities.service.js';

/** The links of a person to identity providers. */
@Injectable()
export class IdentitiesPersonalData {
  constructor(private readonly identities: IdentitiesService) {}

  @Answers('user.personal_data')
  identitiesOf() {
    return section({
      name: 'identities',
      place: 45,
      title: say('Other services you log in with'),
      about: say('Who you are at the services through which you log in.'),
      read: async (userId: string, limit: number) => {
        const found = await this.identities.list(userId);
        return found
          .slice(0, limit)
          .map((each) => recordOf(each, 'provider', 'label', 'issuer', 'subject', 'linkedAt', 'lastUsedAt'));
      },
      columns: {
        [say('Service')]: ({ label }) => label,
        [say('Your name there')]: ({ subject }) => subject,
        [say('Linked')]: ({ linked_at: at }) => at,
        [say('Last used')]: ({ last_used_at: at }) => at,
      },
    });
  }
}
