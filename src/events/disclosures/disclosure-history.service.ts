import { say } from '#platform/language/text.js';
import { Injectable } from '@nestjs/common';
import { notFound } from '#platform/http/problems/problem.js';
import { isId } from '#platform/secrets/ids.js';
import type { Language } from '#platform/language/languages.js';
import { DisclosedReadsService } from './disclosed-reads.service.js';
import { type DisclosureHistory, type FormerClient, beginningOf } from './disclosure.js';
import { DisclosureHistoryRepository } from './disclosure-history.repository.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { OwnWords } from '#access/users/accounts/own-words.js';
import { section } from '#access/users/accounts/personal-data.js';

const ACCOUNT_DATA_WORDS = new OwnWords(say('Your name and email address'));

/** What users see of what was read of their data (contract §26). */
@Injectable()
export class DisclosureHistoryService {
  constructor(
    private readonly repository: DisclosureHistoryRepository,
    private readonly reads: DisclosedReadsService,
  ) {}

  /**
   * What a client read of a user's data, including what this instance has only just served. Throws a 404 problem if the user never
   * consented to the client.
   */
  async of(userId: string, clientId: string, language: Language = 'en'): Promise<DisclosureHistory> {
    const found = isId('clnt', clientId) ? await this.repository.findClient(userId, clientId) : undefined;
    if (!found) throw notFound(say('No such application was ever connected to your account.'));
    await this.reads.flush();
    return { ...found, kinds: await this.repository.kindsOf(userId, clientId, language) };
  }

  /** The last day (`YYYY-MM-DD`, UTC) on which each of these clients read some of the user's data, by its id; none that read nothing. */
  async lastReads(userId: string, clientIds: readonly string[]): Promise<Map<string, string>> {
    const found = clientIds.length > 0 ? await this.repository.lastReads(userId, clientIds) : [];
    return new Map(found.map(({ clientId, day }) => [clientId, day]));
  }

  /** Clients that the user no longer shares data with and that have read some, most recently ended first. */
  formerClients(userId: string): Promise<FormerClient[]> {
    return this.repository.formerClients(userId);
  }

  @Answers('user.personal_data')
  readByApplications() {
    return section({
      name: 'read_by_applications',
      place: 22,
      title: say('What applications read'),
      about: say('How often each application asked for your data, or was sent them, by the day.'),
      read: (userId: string, limit: number, language: Language) =>
        this.repository.list(userId, limit, language),
      columns: {
        [say('Day')]: ({ day }) => day,
        [say('Application')]: ({ application }) => application,
        [say('What')]: ({ words }) => (words === null ? ACCOUNT_DATA_WORDS : beginningOf(words)),
        [say('Asked')]: ({ requests }) => requests,
        [say('Sent')]: ({ deliveries }) => deliveries,
      },
    });
  }
}
