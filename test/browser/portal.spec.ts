import type { Page } from 'playwright-core';
import { until } from '../support/until.js';
import { copied } from './copied.js';
import { followFirst, mainOf, press } from './page-actions.js';
import { addEndpoint, portalWays, secretOn, updatesTo, usePortal } from './portal-ways.js';

/** How much the border of an element stands out from its card (WCAG 2.2, 1.4.11: at least 3). Runs in the page. */
function contrastOfBorder(element: Element): number {
  const luminanceOf = (color: string): number => {
    const [red, green, blue] = color
      .match(/\d+/g)!
      .slice(0, 3)
      .map((part) => Number(part) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [
      number,
      number,
      number,
    ];
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const { appearance, borderTopColor } = getComputedStyle(element);
  // A browser's own box has other colours than its style says.
  if (appearance !== 'none') return 0;
  const [darker, lighter] = [borderTopColor, getComputedStyle(element.closest('.card')!).backgroundColor]
    .map(luminanceOf)
    .sort((one, other) => one - other) as [number, number];
  return (lighter + 0.05) / (darker + 0.05);
}

/* Without scripts: live-list.spec.ts, and with further ways portal-without-scripts.long.spec.ts. */
describe('in the webhook portal in a browser', () => {
  const portal = usePortal();
  const { service, receiver, holdAnswers, answerHeld, openPortal } = portal;

  it('a user copies the secret and an example with a button', async () => {
    const page = await openPortal(true);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: service.url });
    await addEndpoint(page, receiver.url());
    expect(await page.getByRole('button', { name: 'Copy' }).count()).toBe(0);
    await press(page, 'Reveal secret');
    const secret = await copied(page, page.getByRole('button', { name: 'Copy', exact: true }));
    expect([secret, secret.length]).toEqual([await secretOn(page), 50]);
  });

  const sendHeldTest = async (): Promise<Page> => {
    const page = await openPortal(true);
    await addEndpoint(page, receiver.url());
    await followFirst(page, 'Test');
    holdAnswers();
    await press(page, 'Send test');
    await page.waitForURL('**/portal/deliveries/*');
    return page;
  };

  it('a page that its script updates outlives a service that cannot answer for a moment', async () => {
    const page = await sendHeldTest();
    let refused = 0;
    await page.route(page.url(), (route) =>
      refused++ < 2 ? route.fulfill({ status: 503 }) : route.continue(),
    );
    await until('the service could not answer twice', async () => {
      await page.clock.runFor(2000);
      return refused > 2;
    });
    answerHeld();
    await updatesTo(page, 'thank you');
  });

  it('a page that its script updates keeps the focus', async () => {
    const page = await sendHeldTest();
    await page.getByRole('button', { name: 'Resend' }).focus();
    answerHeld();
    await updatesTo(page, 'thank you');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Resend');
    expect(await mainOf(page)).toContain('webhook-signature: v1,');
  });

  it('a low window, as at 200 %, leaves most of its height to the page, and a link skips to what the page is for', async () => {
    const page = await openPortal(true);
    await addEndpoint(page, receiver.url());
    await page.setViewportSize({ width: 640, height: 400 });
    await page.goto(`${service.url}/portal`);
    const { y } = (await page.locator('main').boundingBox())!;
    expect(y).toBeLessThan(160);
    const focused = () => page.evaluate(() => document.activeElement?.textContent.trim());
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Skip to actions');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Add endpoint');
  });

  it('an unticked box stands out from the page, in the dark, too', async () => {
    const page = await openPortal(true);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.goto(`${service.url}/portal/endpoints/new`);
      const box = page.getByRole('checkbox').first();
      expect(await box.evaluate(contrastOfBorder)).toBeGreaterThan(3);
    }
  });

  describe('with JavaScript', () => portalWays(portal, true));
});
