import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { isUniqueViolation } from '#platform/database/queries/database-errors.js';
import { OnDomainEvent } from '#platform/database/domain/domain-map.js';
import type { PersonTraces } from '#access/domain/domain-events.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict, notFound } from '#platform/http/problems/problem.js';
import type { MailedApplication, MailText } from '#records/mail/mail-content.js';
import { MailsService } from '#records/mail/mails.service.js';
import { UnsubscribeKeys } from '#records/mail/unsubscribe-keys.service.js';
import { newId } from '#platform/secrets/ids.js';
import { digestOf, isSecret, newLink } from '#platform/secrets/tokens.js';
import { DISABLED_BECAUSE, type EndpointDisabledReason } from '#events/webhooks/endpoints/endpoint.entity.js';
import { ContactsRepository, type Contact } from './contacts.repository.js';
import { legible } from '#platform/http/validation/legible-text.js';

/** The texts of the mails to the contacts of clients. */
const CONTACT_MAILS = {
  verifyContact: (client: MailedApplication, url: string): MailText => ({
    application: client,
    subject: `Confirm your address for ${legible(client.name)}`,
    paragraphs: [
      `The webhook portal of “${legible(client.name)}” names you as a contact. Once you confirm, you get a mail when one of its endpoints is failing or was disabled, and when consents of its users will soon end.`,
      ...behind(client),
      'The link works once, within 24 hours.',
    ],
    action: { label: 'Confirm address', url },
    after: [
      'If you do not know this application, ignore this mail: without the link you get no more of them.',
    ],
    footer: [
      `You get this mail because someone added your address in the webhook portal of “${legible(client.name)}”.`,
    ],
  }),
  endpointFailing: (client: MailedApplication, url: string): MailText => ({
    application: client,
    subject: `A webhook endpoint of ${legible(client.name)} is failing`,
    paragraphs: [
      `At least 10 of the last 20 attempts to deliver events to this endpoint have failed:\n${url}`,
      ...behind(client),
      'Failed deliveries are retried. Open the webhook portal to see the answers of the endpoint. An endpoint that accepts nothing for five days is disabled.',
    ],
    footer: contactFooter(client.name),
  }),
  endpointDisabled: (client: MailedApplication, url: string, cause: string): MailText => ({
    application: client,
    subject: `A webhook endpoint of ${legible(client.name)} was disabled`,
    paragraphs: [
      `This endpoint ${cause}, so no more events are sent to it:\n${url}`,
      ...behind(client),
      'Fix the endpoint, open the webhook portal, enable the endpoint there and send a test. Use “Recover” to resend the deliveries that failed.',
    ],
    footer: contactFooter(client.name),
  }),
  consentsEnding: (client: MailedApplication, { count, days, url }: EndingConsents): MailText => ({
    application: client,
    subject: `Consents to ${legible(client.name)} will soon end`,
    paragraphs: [
      `${count} within ${days === 1 ? 'a day' : `${days} days`}, unless renewed before. Your tokens for the users concerned then stop working.`,
      ...behind(client),
      'Users are told, too, and renew on their account page or by authorizing the application again. The event user.consent_expiring names each of them.',
    ],
    action: { label: 'Open the webhook portal', url },
    footer: contactFooter(client.name),
  }),
} as const;

/** How many consents end and how soon, with a link to the portal. */
interface EndingConsents {
  /** In words, such as “One consent ends”. */
  count: string;
  days: number;
  url: string;
}

/** The organisation behind an application, if it has one. */
const behind = ({ name, organisation }: MailedApplication): string[] =>
  organisation ? [`“${legible(name)}” is by ${legible(organisation)}.`] : [];

function contactFooter(clientName: string): string[] {
  return [
    `You get this mail as a contact of “${legible(clientName)}”. To get no more of them, use the unsubscribe button of your mail program, or have your address removed from the contacts in the webhook portal.`,
  ];
}

/** Contract §18: the maximum per client. */
export const CONTACTS_PER_CLIENT = 5;
// Contract §18: the link works once within 24 hours.
const LINK_TTL_SECONDS = 86_400;

/** Addresses that a client wants to be told about its endpoints and consents (contract §18). Each is verified before it is used. */
@Injectable()
export class ContactsService {
  constructor(
    private readonly repository: ContactsRepository,
    private readonly mails: MailsService,
    private readonly unsubscribeKeys: UnsubscribeKeys,
    private readonly settings: Settings,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  list(clientId: string): Promise<Contact[]> {
    return this.repository.list(clientId);
  }

  /** Adds an address and mails it the link; throws a 409 problem beyond five, and for one that is there already. */
  async add(clientId: string, email: string, actor: Actor): Promise<void> {
    const id = newId('cont');
    try {
      await this.transactions.run(async () => {
        const client = await this.repository.lockClient(clientId);
        if (!client) throw notFound('There is no client with this id.');
        if ((await this.repository.list(clientId)).length >= CONTACTS_PER_CLIENT) {
          throw conflict(`A client can have at most ${CONTACTS_PER_CLIENT} contacts. Remove one first.`);
        }
        const { key, digest } = newLink('emailKey');
        await this.repository.insert({ id, clientId, email, digest, ttl: LINK_TTL_SECONDS });
        await this.queueLink({ clientId, email, client, key, digest });
        await this.record(actor, 'client.contact_added', clientId, id);
      });
    } catch (error) {
      if (!isUniqueViolation(error, 'client_contacts_email_key')) throw error;
      throw conflict('This address is a contact already.');
    }
  }

  /** The contact, if it is one of the client's; otherwise a 404 problem. */
  async get(clientId: string, id: string): Promise<Contact> {
    const contact = (await this.repository.list(clientId)).find((each) => each.id === id);
    return contact ?? this.missing();
  }

  /** Mails the link once more; the earlier one ends. */
  async resend(clientId: string, id: string): Promise<void> {
    await this.transactions.run(async () => {
      const client = await this.repository.lockClient(clientId);
      const { key, digest } = newLink('emailKey');
      const email = await this.repository.renewLink({ id, clientId, digest, ttl: LINK_TTL_SECONDS });
      if (!client || email === undefined) this.missing();
      await this.queueLink({ clientId, email, client, key, digest });
    });
  }

  async remove(clientId: string, id: string, actor: Actor): Promise<void> {
    await this.transactions.run(async () => {
      if (!(await this.repository.delete(id, clientId))) this.missing();
      await this.record(actor, 'client.contact_removed', clientId, id);
    });
  }

  /** The address that the link verifies; undefined for a link that is used, expired or unknown. */
  async findByKey(key: string): Promise<string | undefined> {
    return isSecret('emailKey', key) ? this.repository.findByLink(digestOf(key)) : undefined;
  }

  /** Verifies an address by its link; false for a link that no longer works. */
  async confirm(key: string, actor: Actor): Promise<boolean> {
    if (!isSecret('emailKey', key)) return false;
    return this.transactions.run(async () => {
      const contact = await this.repository.verify(digestOf(key));
      if (!contact) return false;
      await this.record(actor, 'client.contact_verified', contact.clientId, contact.id);
      return true;
    });
  }

  /** The client that mails the contact, if the key of a mail is right for it. */
  async findByUnsubscribeKey(key: string): Promise<{ clientName: string; email: string } | undefined> {
    const contact = await this.contactOf(key);
    return contact && { clientName: contact.clientName, email: contact.email };
  }

  /** Removes the contact that a mail was sent to; false if the key is not right, or the contact is gone. */
  async unsubscribe(key: string, actor: Actor): Promise<boolean> {
    const contact = await this.contactOf(key);
    if (!contact) return false;
    const { id, clientId } = contact;
    return this.transactions.run(async () => {
      if (!(await this.repository.delete(id, clientId))) return false;
      await this.record(actor, 'client.contact_removed', clientId, id);
      return true;
    });
  }

  private async contactOf(key: string): Promise<(Contact & { clientName: string }) | undefined> {
    const opened = this.unsubscribeKeys.open(key);
    if (opened?.kind !== 'client_contact') return undefined;
    const contact = await this.repository.find(opened.id);
    return contact && opened.isFor(contact.email) ? contact : undefined;
  }

  /** Whether contacts are mailed. */
  get isOn(): boolean {
    return this.mails.isOn;
  }

  /** Tells the contacts that an endpoint is failing, in the transaction that notes it. */
  tellFailing({ clientId, url }: { clientId: string; url: string }): Promise<void> {
    return this.tell('endpoint_failing', clientId, (client) => CONTACT_MAILS.endpointFailing(client, url));
  }

  /** Tells the contacts that the service disabled an endpoint, in the transaction that disables it. */
  async tellDisabled(
    { clientId, url }: { clientId: string; url: string },
    reason: EndpointDisabledReason,
  ): Promise<void> {
    await this.tell('endpoint_disabled', clientId, (client) =>
      CONTACT_MAILS.endpointDisabled(client, url, DISABLED_BECAUSE[reason]),
    );
  }

  /** Tells the contacts how many consents will soon end, in the transaction that tells the users; once for each day. */
  async tellConsentsEnding(clientId: string, { count, day }: { count: string; day: string }): Promise<void> {
    const { baseUrl, consentNoticeDays: days } = this.settings;
    const ending = { count, days, url: `${baseUrl}/portal/sign-in` };
    const mailOf = (client: MailedApplication) => CONTACT_MAILS.consentsEnding(client, ending);
    await this.tell('consents_ending', clientId, mailOf, day);
  }

  /** `happening`: what makes it happen once; by default the caller's guarded write does. */
  private async tell(
    kind: 'endpoint_failing' | 'endpoint_disabled' | 'consents_ending',
    clientId: string,
    mailOf: (client: MailedApplication) => MailText,
    happening: string = newId('form'),
  ): Promise<void> {
    const { client, contacts } = await this.repository.verified(clientId);
    for (const { id, email } of contacts) {
      const cause = `${kind} ${id} ${happening}`;
      const unsubscribeUrl = this.mails.unsubscribeUrl({ kind: 'client_contact', id }, email);
      await this.mails.queue({
        kind,
        clientId,
        address: email,
        cause,
        mail: mailOf(client),
        unsubscribeUrl,
      });
    }
  }

  private async queueLink(to: {
    clientId: string;
    email: string;
    client: MailedApplication;
    key: string;
    digest: Buffer;
  }): Promise<void> {
    await this.mails.queue({
      kind: 'verify_contact',
      clientId: to.clientId,
      address: to.email,
      cause: `link ${to.digest.toString('base64url')}`,
      usefulSeconds: LINK_TTL_SECONDS,
      mail: CONTACT_MAILS.verifyContact(to.client, `${this.settings.baseUrl}/email/verify/${to.key}`),
    });
  }

  @OnDomainEvent('user.erased', 3)
  async forget(_userId: string, { emails }: PersonTraces): Promise<void> {
    for (const email of emails) await this.repository.deleteByEmail(email);
  }

  /** The address is not written to the log, because it could not be erased there. */
  private record(actor: Actor, action: string, clientId: string, contactId: string): Promise<void> {
    const entry = {
      action,
      subjectType: 'client',
      subjectId: clientId,
      after: { contact: contactId },
    } as const;
    return this.audit.record(actor, entry);
  }

  private missing(): never {
    throw notFound('There is no such contact.');
  }
}
