import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository, Column, Entity, PrimaryColumn } from 'typeorm';
import { OneTimeLinks, secondsFromNow } from '#platform/database/queries/one-time-links.js';
import { emailKeyOf } from '../accounts/email.js';
import { TextOrNull, TimeOrNull } from '#platform/database/entities/columns.js';

/** A one-time link that was mailed to an address: to verify it, or to create an account with it (contract §18). */
@Entity('email_links')
export class EmailLinkEntity {
  @PrimaryColumn('bytea') digest!: Buffer;
  @Column('text') purpose!: 'verify' | 'sign_up';
  /** Null for a person who has no account yet. */
  @TextOrNull() userId!: string | null;
  @Column('text') email!: string;
  @Column('text') emailKey!: string;
  /** Where the person was going before the mail, sealed (sealed-returns.service.ts). */
  @Column('bytea', { nullable: true }) returnTo!: Buffer | null;
  @Column('timestamptz') expiresAt!: Date;
  @TimeOrNull() usedAt!: Date | null;
}

export interface NewEmailLink {
  digest: Buffer;
  purpose: EmailLinkEntity['purpose'];
  userId: string | null;
  email: string;
  /** Seconds until it expires. */
  ttl: number;
  returnTo?: Buffer | null;
}

@Injectable()
export class EmailLinksRepository {
  private readonly oneTime: OneTimeLinks<EmailLinkEntity>;

  constructor(@InjectRepository(EmailLinkEntity) private readonly links: Repository<EmailLinkEntity>) {
    this.oneTime = new OneTimeLinks(links, { digest: 'digest', expiresAt: 'expiresAt', usedAt: 'usedAt' });
  }

  async insert({ ttl, ...link }: NewEmailLink): Promise<void> {
    await this.links
      .createQueryBuilder()
      .insert()
      .values({
        ...link,
        emailKey: emailKeyOf(link.email),
        expiresAt: secondsFromNow(ttl),
      })
      .execute();
  }

  /** A link that works. */
  find(digest: Buffer, purpose: EmailLinkEntity['purpose']): Promise<EmailLinkEntity | undefined> {
    return this.oneTime.find(digest, { purpose });
  }

  /** Uses up a link; undefined if it no longer works. */
  use(digest: Buffer, purpose: EmailLinkEntity['purpose']): Promise<EmailLinkEntity | undefined> {
    return this.oneTime.use(digest, { purpose });
  }

  /** Those of the user or to the address, newest first, up to a limit. */
  list(userId: string, email: string, limit: number): Promise<EmailLinkEntity[]> {
    return this.links.find({
      where: [{ userId }, { emailKey: emailKeyOf(email), userId: IsNull() }],
      order: { expiresAt: 'DESC' },
      take: limit,
    });
  }

  async deleteByUser(userId: string): Promise<void> {
    await this.links.delete({ userId });
  }

  async deleteByEmail(email: string): Promise<void> {
    await this.links.delete({ emailKey: emailKeyOf(email) });
  }
}
