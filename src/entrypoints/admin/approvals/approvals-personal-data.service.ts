import { Injectable } from '@nestjs/common';
import { Answers } from '#platform/database/domain/domain-map.js';
import { say } from '#platform/language/text.js';
import { inWords, OwnWords } from '#access/users/accounts/own-words.js';
import { recordOf, section } from '#access/users/accounts/personal-data.js';
import { ADMIN_ACTIONS } from './admin-actions.js';
import { shownDetails, stateOf } from './approval.entity.js';
import { ApprovalsRepository } from './approvals.repository.js';

/** What admins asked for about a person, and what the person asked for or decided as an admin. */
@Injectable()
export class ApprovalsPersonalData {
  constructor(private readonly approvals: ApprovalsRepository) {}

  @Answers('user.personal_data')
  approvalsOf() {
    return section({
      name: 'approvals',
      place: 95,
      title: say('Approvals'),
      about: say('What admins wanted to do with your account, and what you asked for or decided as one.'),
      read: async (userId: string, limit: number) => {
        const found = await this.approvals.listOf(userId, limit);
        return found.map((approval) => ({
          ...recordOf(approval, 'id', 'action', 'subjectId', 'requestedAt', 'decidedAt'),
          // Details about other people are theirs.
          details: approval.subjectId === userId ? shownDetails(approval) : null,
          state: stateOf(approval),
        }));
      },
      columns: {
        [say('What')]: ({ action }) => new OwnWords(ADMIN_ACTIONS[action].words),
        [say('State')]: ({ state }) => inWords(`approval_state.${state}`),
        [say('Asked')]: ({ requested_at: at }) => at,
        [say('Decided')]: ({ decided_at: at }) => at,
      },
    });
  }
}
