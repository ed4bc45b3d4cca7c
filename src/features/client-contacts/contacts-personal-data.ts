import { Injectable } from '@nestjs/common';
import { ClientsService } from '#access/clients/clients.service.js';
import { section } from '#access/users/accounts/personal-data.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { say } from '#platform/language/text.js';
import { ContactsRepository } from './contacts.repository.js';

/** The contacts with a person's address. */
@Injectable()
export class ContactsPersonalData {
  constructor(
    private readonly contacts: ContactsRepository,
    private readonly clients: ClientsService,
    private readonly users: UsersService,
  ) {}

  @Answers('user.personal_data')
  contactsWith() {
    return section({
      name: 'contact_of',
      place: 93,
      title: say('Applications that name you as a contact'),
      about: say('Applications that want mails about their webhooks to go to your address.'),
      read: async (userId: string, limit: number) => {
        const user = await this.users.find(userId);
        const found = user ? await this.contacts.listTo(user.email, limit) : [];
        const names = await this.clients.namesById(found.map(({ clientId }) => clientId));
        return found.map((contact) => ({
          client_id: contact.clientId,
          application: names.get(contact.clientId) ?? null,
          address: contact.email,
          confirmed_at: contact.verifiedAt,
        }));
      },
      columns: {
        [say('Application')]: ({ application }) => application,
        [say('Address')]: ({ address }) => address,
        [say('Confirmed')]: ({ confirmed_at: at }) => at,
      },
    });
  }
}
