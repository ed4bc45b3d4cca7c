import { Module, type OnModuleInit } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ClientsModule } from '#access/clients/clients.module.js';
import { ConsentsModule } from '#access/consents/consents.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { AccountModule } from '#entrypoints/account/account.module.js';
import { AddressLinks } from '#entrypoints/account/sign-up/address-links.js';
import { UnsubscribeLinks } from '#entrypoints/account/unsubscribe-links.js';
import { ApiDocsModule } from '#entrypoints/api-docs/api-docs.module.js';
import { GoingLive } from '#entrypoints/api-docs/going-live/going-live.service.js';
import { contains, PortalSearch } from '#entrypoints/webhook-portal/search/portal-search.service.js';
import { WebhookPortalModule } from '#entrypoints/webhook-portal/webhook-portal.module.js';
import { EndpointTroubles } from '#events/webhooks/endpoints/endpoint-troubles.js';
import { WebhooksModule } from '#events/webhooks/webhooks.module.js';
import { HttpModule } from '#platform/http/http.module.js';
import { addCatalogsOf } from '#platform/language/catalog.js';
import { AuditModule } from '#records/audit/audit.module.js';
import { MailModule } from '#records/mail/mail.module.js';
import { ContactsPersonalData } from './contacts-personal-data.js';
import { CONTACTS_PATH } from './contacts.page.js';
import { ContactsRepository, ContactEntity } from './contacts.repository.js';
import { ContactsService } from './contacts.service.js';
import { EndingConsentsMails } from './ending-consents-mails.js';
import { PortalContactsController } from './portal-contacts.controller.js';
import { contactRemovedPage, removeContactPage } from './remove-contact.pages.js';

addCatalogsOf('client-contacts');

/** Addresses that a client wants to be told about its endpoints and consents (contract §18): their page in the portal, and their mails. */
@Module({
  imports: [
    AccountModule,
    ApiDocsModule,
    AuditModule,
    ClientsModule,
    ConsentsModule,
    HttpModule,
    MailModule,
    UsersModule,
    WebhookPortalModule,
    WebhooksModule,
    TypeOrmModule.forFeature([ContactEntity]),
  ],
  controllers: [PortalContactsController],
  providers: [ContactsPersonalData, ContactsRepository, ContactsService, EndingConsentsMails],
})
export class ClientContactsModule implements OnModuleInit {
  constructor(
    private readonly contacts: ContactsService,
    private readonly addressLinks: AddressLinks,
    private readonly unsubscribeLinks: UnsubscribeLinks,
    private readonly troubles: EndpointTroubles,
    private readonly search: PortalSearch,
    private readonly goingLive: GoingLive,
  ) {}

  onModuleInit(): void {
    const { contacts } = this;
    this.troubles.add(contacts);
    this.addressLinks.add({
      find: (key) => contacts.findByKey(key),
      confirm: (key, actor) => contacts.confirm(key, actor),
    });
    this.unsubscribeLinks.add({
      async ask(key, action) {
        const contact = await contacts.findByUnsubscribeKey(key);
        return contact && removeContactPage({ action, ...contact });
      },
      stop: async (key, actor) =>
        (await contacts.unsubscribe(key, actor)) ? contactRemovedPage() : undefined,
    });
    this.search.add('Contacts', 'Endpoints', async (wanted, { clientId }) => {
      const found = (await contacts.list(clientId)).filter(({ email }) => contains(email, wanted));
      return { hits: found.map(({ email }) => ({ label: email, href: CONTACTS_PATH })) };
    });
    this.goingLive.add('Deliveries arrive', {
      title: 'Someone is told when an endpoint fails',
      hint: 'A contact has confirmed the address. Add one on the page Contacts of the portal.',
      judge: async ({ client }) => (await contacts.list(client.id)).some(({ verifiedAt }) => verifiedAt),
    });
  }
}
