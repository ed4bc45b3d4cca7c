import type { Page, Request } from 'playwright-core';
import { authorizePath } from '../support/browser-session.js';
import { PASSWORD } from '../support/factory.js';
import { arrive, driverWays, useDriver } from './driver-ways.js';
import { portalLink, signIn } from './every-page.js';
import { movedOn, watchShifts } from './layout-shifts.js';

/* Without scripts: consent.spec.ts, and with further ways pages-without-scripts.long.spec.ts. */
describe('in a browser', () => {
  const atApplication = useDriver();
  const { service, driver, client, newPage, begin } = atApplication;

  describe('with JavaScript', () => driverWays(atApplication, true));

  describe('with the keyboard only,', () => {
    const focused = (page: Page): Promise<{ name: string; outlined: boolean }> =>
      page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        const name = (element as HTMLInputElement).labels?.[0]?.innerText ?? element.innerText;
        const { outlineStyle, outlineWidth } = getComputedStyle(element);
        return { name, outlined: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 };
      });
    /** Presses Tab until the element with this name has the focus; every focus on the way must be visible. */
    const tabTo = async (page: Page, name: string): Promise<void> => {
      for (let stop = 0; stop < 12; stop++) {
        await page.keyboard.press('Tab');
        const now = await focused(page);
        expect(now).toMatchObject({ outlined: true });
        if (now.name === name) return;
      }
      throw new Error(`not reached: ${name}`);
    };

    it('a user logs in, authorizes, and returns to the application', async () => {
      const page = await newPage();
      const authorization = await begin();
      await page.goto(authorization.url);
      await tabTo(page, 'Email');
      await page.keyboard.type(driver.email);
      await tabTo(page, 'Password');
      await page.keyboard.type(PASSWORD);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Authorize' }).waitFor();
      await tabTo(page, 'Authorize');
      await page.keyboard.press('Enter');
      await authorization.finish(await arrive(page));
    });

    it('a user skips to the content, and opens the portal', async () => {
      const page = await newPage();
      await page.goto(await portalLink(service, { driver, owner: driver, client }));
      await page.keyboard.press('Tab');
      expect((await focused(page)).name).toBe('Skip to content');
      expect((await page.getByText('Skip to content').boundingBox())!.y).toBeGreaterThanOrEqual(0);
      await page.keyboard.press('Enter');
      await tabTo(page, 'Open webhook portal');
      await page.keyboard.press('Space');
      await page.waitForURL(`${service.url}/portal`);
    });
  });

  it('the pages that people see first are found, light, and do not move', async () => {
    const page = await newPage();
    await page.setViewportSize({ width: 390, height: 844 });
    await signIn(service, page, driver);
    await page.goto(await portalLink(service, { client, driver, owner: driver }));
    await page.getByRole('button', { name: 'Open webhook portal' }).click();
    const consent = { response_type: 'code', client_id: client.id, redirect_uri: client.redirectUris[0] };
    await watchShifts(page);
    for (const path of [
      ...['/', '/login', authorizePath(consent), '/account', '/portal'],
      ...['/docs', '/docs/guides/first-token', '/docs/search?q=token'],
    ]) {
      const loaded: Request[] = [];
      const note = (request: Request) => void loaded.push(request);
      page.on('request', note);
      const response = (await page.goto(service.url + path, { waitUntil: 'networkidle' }))!;
      page.off('request', note);
      const own = loaded.filter((request) => ['stylesheet', 'script'].includes(request.resourceType()));
      const sizes = await Promise.all(own.map((request) => request.sizes()));
      const bytes = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
      const moved = await movedOn(page);
      const [described, robots, status] = await page.evaluate(async () => [
        document.querySelector<HTMLMetaElement>('meta[name=description]')?.content,
        document.querySelector('meta[name=robots]'),
        // In the name of the page, as those who read it do.
        (await fetch('/robots.txt')).status,
      ]);
      const indexed = response.headers()['x-robots-tag'];
      expect({ path, described, robots, indexed, moved, status, isLight: bytes < 60_000 }).toEqual({
        ...{ path, described: expect.stringMatching(/.{20}/), robots: null, indexed: undefined },
        ...{ moved: [], status: 404, isLight: true },
      });
    }
  });
});
