import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Not, Repository } from 'typeorm';
import { ClientEntity } from '#access/clients/client.entity.js';
import type { MailedApplication } from '#records/mail/mail-content.js';
import { emailKeyOf } from '#access/users/accounts/email.js';
import { ContactEntity } from './contact.entity.js';

/** A contact as its client sees it. */
export type Contact = Pick<ContactEntity, 'id' | 'clientId' | 'email' | 'verifiedAt'>;

const works = (alias = ''): string =>
  `${alias}linkDigest = :digest AND ${alias}linkExpiresAt > now() AND ${alias}verifiedAt IS NULL`;
const expiry = (ttl: number) => () => `now() + make_interval(secs => ${Math.trunc(ttl)})`;

@Injectable()
export class ContactsRepository {
  constructor(@InjectRepository(ContactEntity) private readonly contacts: Repository<ContactEntity>) {}

  /** Locks the client, so that its contacts can be counted. */
  lockClient(clientId: string): Promise<MailedApplication | null> {
    return this.contacts.manager.findOne(ClientEntity, {
      select: { id: true, name: true, organisation: true, logoId: true },
      where: { id: clientId },
      lock: { mode: 'for_no_key_update' },
    });
  }

  list(clientId: string): Promise<Contact[]> {
    return this.contacts.find({ where: { clientId }, order: { id: 'ASC' } });
  }

  /** Where the address is a contact, up to a limit. */
  listTo(email: string, limit: number): Promise<ContactEntity[]> {
    return this.contacts.find({
      where: { emailKey: emailKeyOf(email) },
      order: { id: 'ASC' },
      take: limit,
    });
  }

  /** The contact with the name of its client. */
  async find(id: string): Promise<(Contact & { clientName: string }) | undefined> {
    const { entities, raw } = await this.contacts
      .createQueryBuilder('contact')
      .innerJoin(ClientEntity, 'client', 'client.id = contact.clientId')
      .addSelect('client.name', 'clientName')
      .where('contact.id = :id', { id })
      .getRawAndEntities<{ clientName: string }>();
    return entities[0] && { ...entities[0], clientName: raw[0]!.clientName };
  }

  /** Those who may be told something, with what their mails show of the client. */
  async verified(clientId: string): Promise<{ client: MailedApplication; contacts: Contact[] }> {
    const contacts = await this.contacts.find({
      where: { clientId, verifiedAt: Not(IsNull()) },
      order: { id: 'ASC' },
    });
    if (contacts.length === 0) return { client: { name: '' }, contacts };
    const client = await this.contacts.manager.findOneByOrFail(ClientEntity, { id: clientId });
    return { client, contacts };
  }

  async insert({
    digest,
    ttl,
    ...contact
  }: Pick<Contact, 'id' | 'clientId' | 'email'> & { digest: Buffer; ttl: number }): Promise<void> {
    await this.contacts
      .createQueryBuilder()
      .insert()
      .values({
        ...contact,
        emailKey: emailKeyOf(contact.email),
        linkDigest: digest,
        linkExpiresAt: expiry(ttl),
      })
      .execute();
  }

  /** Replaces the link of a contact that is not verified; returns its address. */
  async renewLink({
    id,
    clientId,
    digest,
    ttl,
  }: {
    id: string;
    clientId: string;
    digest: Buffer;
    ttl: number;
  }): Promise<string | undefined> {
    const { raw } = await this.contacts
      .createQueryBuilder()
      .update()
      .set({ linkDigest: digest, linkExpiresAt: expiry(ttl) })
      .where('id = :id AND clientId = :clientId AND verifiedAt IS NULL', { id, clientId })
      .returning(['email'])
      .execute();
    return (raw as { email: string }[])[0]?.email;
  }

  /** The address of a link that works. */
  async findByLink(digest: Buffer): Promise<string | undefined> {
    const contact = await this.contacts
      .createQueryBuilder('contact')
      .where(works('contact.'), { digest })
      .getOne();
    return contact?.email;
  }

  /** Verifies the address and uses up the link; undefined if the link no longer works. */
  async verify(digest: Buffer): Promise<{ id: string; clientId: string } | undefined> {
    const { raw } = await this.contacts
      .createQueryBuilder()
      .update()
      .set({ verifiedAt: () => 'now()', linkDigest: null, linkExpiresAt: null })
      .where(works(), { digest })
      .returning(['id', 'clientId'])
      .execute();
    const [row] = raw as { id: string; client_id: string }[];
    return row && { id: row.id, clientId: row.client_id };
  }

  async delete(id: string, clientId: string): Promise<boolean> {
    const { affected } = await this.contacts.delete({ id, clientId });
    return affected === 1;
  }

  /** Removes an erased person's address from the contacts of all clients. */
  async deleteByEmail(email: string): Promise<void> {
    await this.contacts.delete({ emailKey: emailKeyOf(email) });
  }
}
