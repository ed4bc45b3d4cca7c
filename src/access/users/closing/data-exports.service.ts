import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import type { Language } from '#platform/language/languages.js';
import { text } from '#platform/language/text.js';
import { MAIL_TEXTS } from '#records/mail/mail-texts.js';
import { MailsService } from '#records/mail/mails.service.js';
import { digestOf, isSecret, newLink } from '#platform/secrets/tokens.js';
import { PersonalData, type ReadSection } from '../accounts/personal-data.js';
import { UsersRepository } from '../accounts/users.repository.js';
import { ActorsService } from '../sessions/actors.service.js';
import { DataExportsRepository } from './data-exports.repository.js';

// Contract §13: the link works once within 24 hours.
const LINK_TTL_SECONDS = 86_400;
/** Contract §13: the most records of each section in the file, so that one person's history cannot use up the memory. */
export const RECORDS_IN_FILE = 10_000;
/** The page shows the first of them. */
export const RECORDS_ON_PAGE = 50;

/** What a person takes along. */
export interface DataExport {
  madeAt: Date;
  /** Of our own texts. */
  language: Language;
  sections: ReadSection[];
}

/**
 * The data of a person, by a link that works once, for the person alone, and is mailed if there is mail (contract §13). Nothing is prepared or stored: it is
 * read at the moment when it is shown or downloaded.
 */
@Injectable()
export class DataExportsService {
  constructor(
    private readonly repository: DataExportsRepository,
    private readonly users: UsersRepository,
    private readonly data: PersonalData,
    private readonly mails: MailsService,
    private readonly actors: ActorsService,
    private readonly audit: AuditService,
    private readonly transactions: Transactions,
    private readonly settings: Settings,
  ) {}

  /**
   * Makes a link, and mails it to the user; an earlier one ends. Without mail it returns the key of the link instead. Undefined if there
   * is mail, but the address is not verified.
   */
  request(userId: string, actor: Actor): Promise<{ key?: string } | undefined> {
    return this.transactions.run(async () => {
      const user = await this.users.lock(userId);
      await this.actors.requireLive(actor);
      const { sendsMail, baseUrl, passwordSignIn } = this.settings;
      if (!user || (sendsMail && !user.emailVerifiedAt)) return undefined;
      const { key, digest } = newLink('exportKey');
      await this.repository.replace({ userId, digest, ttl: LINK_TTL_SECONDS });
      if (sendsMail) {
        await this.mails.queue({
          kind: 'data_export',
          userId,
          address: user.email,
          cause: `link ${digest.toString('base64url')}`,
          usefulSeconds: LINK_TTL_SECONDS,
          language: user.language ?? actor.language,
          mail: MAIL_TEXTS.dataExport(`${baseUrl}/account/export/${key}`, passwordSignIn),
        });
      }
      await this.audit.record(actor, { action: 'user.export_requested', subjectId: userId });
      return sendsMail ? {} : { key };
    });
  }

  /** What there is, for the page of a link; undefined if the link does not work for this user. Changes nothing. */
  async show(userId: string, key: string, language: Language): Promise<DataExport | undefined> {
    if (!isSecret('exportKey', key)) return undefined;
    const works = await this.repository.find(userId, digestOf(key));
    return works && this.read(userId, RECORDS_ON_PAGE, language);
  }

  /**
   * Everything, once; undefined if the link does not work for this user. It is used up first, so that many at a time cost no more than
   * one, and given back if the data cannot be read.
   */
  async take(userId: string, key: string, actor: Actor, language: Language): Promise<DataExport | undefined> {
    if (!isSecret('exportKey', key)) return undefined;
    const digest = digestOf(key);
    const isTaken = await this.transactions.run(async () => {
      if (!(await this.repository.use(userId, digest))) return false;
      await this.actors.requireLive(actor);
      await this.audit.record(actor, { action: 'user.exported', subjectId: userId });
      return true;
    });
    if (!isTaken) return undefined;
    try {
      return await this.read(userId, RECORDS_IN_FILE, language);
    } catch (error) {
      await this.repository.giveBack(userId, digest);
      throw error;
    }
  }

  private async read(userId: string, limit: number, language: Language): Promise<DataExport> {
    return { madeAt: new Date(), language, sections: await this.data.read(userId, limit, language) };
  }
}

/** The file: every section by its name, with a word about what it is and whether it is all. */
export const fileOf = ({ madeAt, language, sections }: DataExport, userId: string): string =>
  JSON.stringify(
    {
      made_at: madeAt,
      user_id: userId,
      language,
      sections: Object.fromEntries(
        sections.map(({ name, title, about, isComplete, records }) => [
          name,
          { title: text(language, title), about: text(language, about), is_complete: isComplete, records },
        ]),
      ),
    },
    null,
    2,
  );
