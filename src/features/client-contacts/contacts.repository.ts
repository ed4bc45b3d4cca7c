import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Not, Repository, Column, Entity, PrimaryColumn } from 'typeorm';
import { ClientEntity } from '#access/clients/client.entity.js';
import type { MailedApplication } from '#records/mail/mail-content.js';
import { OneTimeLinks, secondsFromNow } from '#platform/database/queries/one-time-links.js';
import { emailKeyOf } from '#access/users/accounts/email.js';
import { TimeOrNull } from '#platform/database/entities/columns.js';

/** An address that a client wants to be told about its endpoints (contract §18). */
@Entity('client_contacts')
export class ContactEntity {
  @PrimaryColumn('text') id!: string;
  @Column('text') clientId!: string;
  @Column('text') email!: string;
  @Column('text', { select: false }) emailKey!: string;
  /** Null until its owner confirmed it; nothing but the link is sent to it before. */
  @TimeOrNull() verifiedAt!: Date | null;
  /** The link that was mailed last. */
  @Column('bytea', { nullable: true, select: false }) linkDigest!: Buffer | null;
  @Column('timestamptz', { nullable: true, select: false }) linkExpiresAt!: Date | null;
}

/** A contact as its client sees it. */
export type Contact = Pick<ContactEntity, 'id' | 'clientId' | 'email' | 'verifiedAt'>;

@Injectable()
export class ContactsRepository {
  private readonly oneTime: OneTimeLinks<ContactEntity>;

  constructor(@InjectRepository(ContactEntity) private readonly contacts: Repository<ContactEntity>) {
    this.oneTime = new OneTimeLinks(contacts, {
      digest: 'linkDigest',
      expiresAt: 'linkExpiresAt',
      usedAt: 'verifiedAt',
      alsoSet: { linkDigest: null, linkExpiresAt: null },
    });
  }

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
        linkExpiresAt: secondsFromNow(ttl),
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
      .set({ linkDigest: digest, linkExpiresAt: secondsFromNow(ttl) })
      .where('id = :id AND clientId = :clientId AND verifiedAt IS NULL', { id, clientId })
      .returning(['email'])
      .execute();
    return (raw as { email: string }[])[0]?.email;
  }

  /** The address of a link that works. */
  async findByLink(digest: Buffer): Promise<string | undefined> {
    return (await this.oneTime.find(digest))?.email;
  }

  /** Verifies the address and uses up the link; undefined if the link no longer works. */
  verify(digest: Buffer): Promise<ContactEntity | undefined> {
    return this.oneTime.use(digest);
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
