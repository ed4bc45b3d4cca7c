import { accountWays, useAccount } from './account-ways.js';
import { movedOn, watchShifts } from './layout-shifts.js';
import { press, said } from './page-actions.js';

/* Without scripts: account-closing.spec.ts and consent.spec.ts, and with further ways account-without-scripts.long.spec.ts. */
describe('on the account page in a browser', () => {
  const account = useAccount();
  const { service, user, client, newPage } = account;

  describe('with JavaScript', () => accountWays(account, true));

  it('times are in the time zone of the browser from the first page on, in UTC and relative under the pointer, and nothing moves', async () => {
    const page = await newPage(true, '/account/sessions', 'America/New_York');
    const present = page.getByText('This browser', { exact: true });
    await present.click();
    const time = page.locator('main dd time').first();
    expect(await time.innerText()).toMatch(/ at \d\d:\d\d (EST|EDT|GMT-[45])$/);
    expect(await time.getAttribute('title')).toMatch(/ UTC$/);
    const before = await page.locator('main').innerText();
    await time.hover();
    expect(await time.getAttribute('title')).toMatch(/^(now|\d+ (seconds?|minutes?) ago) · .* UTC$/);
    expect(await page.locator('main').innerText()).toBe(before);
    await watchShifts(page);
    await page.reload({ waitUntil: 'networkidle' });
    expect(await movedOn(page)).toEqual([]);
    await page.getByText('Show times in').first().click();
    await page.getByLabel('UTC').check();
    await press(page, 'Save');
    expect(await said(page)).toBe('Times are shown as you chose, in this browser.');
    expect(await page.locator('main time').first().innerText()).toMatch(/ UTC$/);
  });

  it('times are in UTC without scripts', async () => {
    const page = await newPage(false, '/account/sessions', 'America/New_York');
    expect(await page.locator('main time').first().innerText()).toMatch(/ UTC$/);
  });

  it('a user can do everything with the keyboard only, and every focus is visible', async () => {
    await service.make.consent(client, user);
    const page = await newPage(true);
    const tabTo = async (name: string): Promise<void> => {
      for (let stop = 0; stop < 20; stop++) {
        await page.keyboard.press('Tab');
        const now = await page.evaluate(() => {
          const element = document.activeElement as HTMLElement;
          const { outlineStyle, outlineWidth } = getComputedStyle(element);
          const outlined = outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2;
          return { name: element.textContent, outlined };
        });
        expect(now).toMatchObject({ outlined: true });
        if (now.name === name || now.name?.startsWith(`${name} `)) return;
      }
      throw new Error(`not reached: ${name}`);
    };
    await tabTo('Notifications');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Notifications' }).waitFor();
    await tabTo('New login to your account');
    await page.keyboard.press('Enter');
    expect(await page.getByText('there is nothing to do').first().isVisible()).toBe(true);
    await tabTo('Log out');
    await page.goto(`${service.url}/account`);
    await tabTo('Manage Northwind Smart Charging');
    await page.keyboard.press('Enter');
    await tabTo('Disconnect Northwind Smart Charging');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Disconnect application' }).waitFor();
    await tabTo('Disconnect');
    await page.keyboard.press('Space');
    expect(await said(page)).toBe('Application disconnected.');
  });
});
