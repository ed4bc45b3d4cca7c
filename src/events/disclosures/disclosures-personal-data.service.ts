import { Injectable } from '@nestjs/common';
import { Answers } from '#platform/database/domain/domain-map.js';
import type { Language } from '#platform/language/languages.js';
import { say } from '#platform/language/text.js';
import { OwnWords } from '#access/users/accounts/own-words.js';
import { section } from '#access/users/accounts/personal-data.js';
import { beginningOf } from './disclosure.js';
import { DisclosureHistoryRepository } from './disclosure-history.repository.js';

const ACCOUNT_DATA_WORDS = new OwnWords(say('Your name and email address'));

/** What applications read of a person's data, in the export. */
@Injectable()
export class DisclosuresPersonalData {
  constructor(private readonly history: DisclosureHistoryRepository) {}

  @Answers('user.personal_data')
  readByApplications() {
    return section({
      name: 'read_by_applications',
      place: 22,
      title: say('What applications read'),
      about: say('How often each application asked for your data, or was sent them, by the day.'),
      read: (userId: string, limit: number, language: Language) => this.history.list(userId, limit, language),
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
