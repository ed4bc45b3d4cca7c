import type { Page } from 'playwright-core';
import { until } from '../support/until.js';
import { copied } from './copied.js';
import { followFirst, mainOf, press } from './page-actions.js';
import { addEndpoint, portalWays, secretOn, updatesTo, usePortal } from './portal-ways.js';

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

  describe('with JavaScript', () => portalWays(portal, true));
});
