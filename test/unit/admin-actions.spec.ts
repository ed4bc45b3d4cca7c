import type { ActionServices } from '#entrypoints/admin/actions/admin-actions.js';
import { AdminActions } from '#entrypoints/admin/actions/admin-actions.service.js';
import type { DomainQuestions } from '#platform/database/domain/domain-questions.service.js';
import type { Settings } from '#platform/config/settings.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';

describe('With FOUR_EYES=true and without the feature that asks a second admin', () => {
  const erased: string[] = [];
  const users = {
    // As the service does it: what the check throws ends the transaction before anything is done.
    erase: async (id: string, _actor: unknown, check: () => Promise<void>) => {
      await check();
      erased.push(id);
    },
  };
  const actionsWith = (fourEyes: boolean) =>
    new AdminActions(
      { users } as Partial<ActionServices> as ActionServices,
      { askAll: () => [] } as Partial<DomainQuestions> as DomainQuestions,
      { fourEyes } as Settings,
    );

  it('what needs a second admin is refused and not done; without the setting it is done', async () => {
    await expect(actionsWith(true).run('user.erase', 'user1', {}, SERVICE_ACTOR)).rejects.toMatchObject({
      status: 409,
    });
    expect(erased).toEqual([]);
    expect(await actionsWith(false).run('user.erase', 'user1', {}, SERVICE_ACTOR)).toEqual({
      done: undefined,
    });
    expect(erased).toEqual(['user1']);
  });
});
