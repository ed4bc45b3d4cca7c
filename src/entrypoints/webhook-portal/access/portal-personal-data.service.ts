import { Injectable } from '@nestjs/common';
import { Answers } from '#platform/database/domain/domain-map.js';
import { say } from '#platform/language/text.js';
import { recordOf, section } from '#access/users/accounts/personal-data.js';
import { MemberSessionsRepository } from './member-sessions.repository.js';

/** The sessions of a person in the portals of clients. */
@Injectable()
export class PortalPersonalData {
  constructor(private readonly sessions: MemberSessionsRepository) {}

  @Answers('user.personal_data')
  portalSessions() {
    return section({
      name: 'portal_sessions',
      place: 94,
      title: say('Sessions in the webhook portal'),
      about: say('That you opened the webhook portal lately.'),
      read: async (userId: string, limit: number) => {
        const found = await this.sessions.listOf(userId, limit);
        return found.map((session) => recordOf(session, 'clientId', 'createdAt', 'expiresAt'));
      },
      columns: {
        [say('Opened')]: ({ created_at: at }) => at,
        [say('Ends')]: ({ expires_at: at }) => at,
      },
    });
  }
}
