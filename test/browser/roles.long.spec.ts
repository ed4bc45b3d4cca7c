import type { Page } from 'playwright-core';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { madeForEach, madeOnce } from '../support/made.js';
import { useService } from '../support/test-service.js';
import { followFirst, headingOf, logIn, press, said } from './page-actions.js';
import { answersWith, useBrowser } from './use-browser.js';

describe('in the console in a browser, by role', () => {
  const service = useService({ env: { FOUR_EYES: 'true' } });
  const browser = useBrowser(answersWith(403, 404));
  const client = madeOnce(() => service.make.client({ name: 'Voltwise' }));
  const driver = madeForEach(async () => {
    const made = await service.make.user({ name: 'Dana Driver' });
    await service.make.consent(client, made);
    return made;
  });

  /** The names of the buttons and of the links that look like one. */
  const actionsOn = (page: Page) =>
    page.locator('.buttons button, .buttons a, .page-actions a').allInnerTexts();
  const openConsole = async (user: UserEntity): Promise<Page> => {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(`${service.url}/admin/console`);
    await logIn(page, user);
    return page;
  };
  const findUser = async (page: Page): Promise<void> => {
    await followFirst(page, 'Users');
    await page.getByLabel('Part of the name').fill(driver.id);
    await press(page, 'Search');
    await followFirst(page, 'Dana Driver');
  };

  it('support helps a user, and neither sees nor opens what is for admins', async () => {
    const page = await openConsole(await service.make.user({ role: 'operator', operatorRole: 'support' }));
    expect(await headingOf(page)).toBe('Overview');
    await findUser(page);
    expect(await actionsOn(page)).toEqual([
      'Edit',
      'Create password link',
      'Create notification',
      'Disable',
      'Revoke all tokens',
    ]);
    await followFirst(page, 'Edit');
    await page.getByLabel('Name').fill('Dana Rider');
    await press(page, 'Save');
    expect(await headingOf(page)).toBe('Dana Rider');
    await followFirst(page, 'Disable');
    await press(page, 'Disable user');
    expect(await said(page)).toContain('User disabled.');
    await press(page, 'Enable');
    await followFirst(page, 'Connected clients');
    await page.getByRole('link', { name: 'Disconnect Voltwise' }).click();
    await press(page, 'Disconnect');
    expect(await said(page)).toContain('Client disconnected');
    await followFirst(page, 'Clients');
    await followFirst(page, 'Voltwise');
    expect(await actionsOn(page)).toEqual(['Revoke all tokens']);
    await page.goto(`${service.url}/admin/console/clients/${client.id}/delete`);
    expect(await page.getByRole('main').innerText()).toContain(
      'This requires the role admin. Your role is support',
    );
  });

  it('a viewer reads, and a second admin approves what the first asked for', async () => {
    const viewer = await openConsole(await service.make.user({ role: 'operator', operatorRole: 'viewer' }));
    await findUser(viewer);
    expect(await actionsOn(viewer)).toEqual([]);
    expect(await viewer.getByRole('heading', { level: 2 }).count()).toBe(0);

    const first = await openConsole(await service.make.user({ role: 'operator' }));
    await findUser(first);
    await followFirst(first, 'Erase');
    await press(first, 'Erase user');
    expect(await said(first)).toContain('Nothing is done yet');
    expect(await actionsOn(first)).toEqual(['Reject']);

    const approving = await service.make.user({ role: 'operator' });
    const second = await openConsole(approving);
    await followFirst(second, 'View approvals');
    await followFirst(second, 'Erase user');
    // With a password alone nobody approves.
    expect(await actionsOn(second)).toEqual(['Reject']);
    expect(await second.getByRole('main').innerText()).toContain('in which you gave a second factor');
    await service.database.query('UPDATE sessions SET second_factor = true WHERE user_id = $1', [
      approving.id,
    ]);
    await second.reload();
    await press(second, 'Approve');
    expect(await said(second)).toBe('Approved and carried out.');
    await second.goto(`${service.url}/admin/console/users/${driver.id}`);
    expect(await second.getByRole('main').innerText()).toContain('There is no user');
  });
});
