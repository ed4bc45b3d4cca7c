import { Injectable } from '@nestjs/common';
import { say } from '../language/text.js';
import { PersonalData, section } from '../users/accounts/personal-data.js';
import { DisclosureHistoryRepository } from './disclosure-history.repository.js';

/** What applications read of a person's data, in the export. */
@Injectable()
export class DisclosuresPersonalData {
  constructor(history: DisclosureHistoryRepository, data: PersonalData) {
    data.add(
      section({
        name: 'read_by_applications',
        place: 22,
        title: say('What applications read'),
        about: say('How often each application asked for your data, or was sent them, by the day.'),
        read: (userId: string, limit: number) => history.list(userId, limit),
        columns: {
          [say('Day')]: ({ day }) => day,
          [say('Application')]: ({ application }) => application,
          [say('What')]: ({ scope }) => scope,
          [say('Asked')]: ({ requests }) => requests,
          [say('Sent')]: ({ deliveries }) => deliveries,
        },
      }),
    );
  }
}
