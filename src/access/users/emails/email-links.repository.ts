import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
import { emailKeyOf } from '../accounts/email.js';
import { EmailLinkEntity } from './email-link.entity.js';

export interface NewEmailLink {
  digest: Buffer;
  purpose: EmailLinkEntity['purpose'];
  userId: string | null;
  email: string;
  /** Seconds until it expires. */
  ttl: number;
  returnTo?: Buffer | null;
}

/** What a link is about. */
export type EmailLinkOwner = Pick<EmailLinkEntity, 'userId' | 'email' | 'returnTo'>;

const works = (alias = ''): string =>
  `${alias}digest = :digest AND ${alias}purpose = :purpose AND ${alias}usedAt IS NULL AND ${alias}expiresAt > now()`;

@Injectable()
export class EmailLinksRepository {
  constructor(@InjectRepository(EmailLinkEntity) private readonly links: Repository<EmailLinkEntity>) {}

  async insert({ ttl, ...link }: NewEmailLink): Promise<void> {
    await this.links
      .createQueryBuilder()
      .insert()
      .values({
        ...link,
        emailKey: emailKeyOf(link.email),
        expiresAt: () => `now() + make_interval(secs => ${Math.trunc(ttl)})`,
      })
      .execute();
  }

  /** A link that works. */
  async find(digest: Buffer, purpose: EmailLinkEntity['purpose']): Promise<EmailLinkOwner | undefined> {
    const link = await this.links
      .createQueryBuilder('link')
      .where(works('link.'), { digest, purpose })
      .getOne();
    return link ?? undefined;
  }

  /** Uses up a link; undefined if it no longer works. */
  async use(digest: Buffer, purpose: EmailLinkEntity['purpose']): Promise<EmailLinkOwner | undefined> {
    const { raw } = await this.links
      .createQueryBuilder()
      .update()
      .set({ usedAt: () => 'now()' })
      .where(works(), { digest, purpose })
      .returning(['userId', 'email', 'returnTo'])
      .execute();
    const [row] = raw as { user_id: string | null; email: string; return_to: Buffer | null }[];
    return row && { userId: row.user_id, email: row.email, returnTo: row.return_to };
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
