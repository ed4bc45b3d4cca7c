import { Webhook } from 'standardwebhooks';
import type { Page } from 'playwright-core';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { HeldTimers } from '../support/held-timers.js';
import { madeForEach } from '../support/made.js';
import { enterPortal, seedDelivery, type SeededDelivery } from '../support/portal.js';
import { Receiver } from '../support/receiver.js';
import { useSharedService, type TestService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { WEBHOOK_ENV } from '../support/webhooks.js';
import { followFirst, mainOf, openVisitorMenu, press, saidFirst } from './page-actions.js';
import { answersWith, useBrowser } from './use-browser.js';

const FAILED: SeededDelivery = {
  ...{ state: 'failed', type: 'webhook.test', isTest: true },
  attempts: [{ status: 404 }],
};

export interface PortalInBrowser {
  service: TestService;
  /** Answers 200 at `/hook` and 404 elsewhere. */
  receiver: Receiver;
  /** The receiver answers nothing until {@link answerHeld}. */
  holdAnswers(): void;
  /** Answers what was held, and from now on at once. */
  answerHeld(): void;
  /** The portal of a new client in a new browser; pages.spec.ts opens it with the one-time link. */
  openPortal(javaScriptEnabled: boolean): Promise<Page>;
}

/** For the tests of a `describe`: a service with a receiver of webhooks, a client and browsers. */
export function usePortal(): PortalInBrowser {
  const service = useSharedService({ env: WEBHOOK_ENV });
  const browser = useBrowser(answersWith(400, 401, 503));
  let holds = false;
  const held: (() => void)[] = [];
  const receiver = Receiver.setUp((response, { url }) => {
    const answer = () =>
      void (url === '/hook' ? response.end('thank you') : response.writeHead(404).end('no such path'));
    if (holds) held.push(answer);
    else answer();
  });
  const client = madeForEach(() => service.make.client({ name: 'Northwind Smart Charging' }));
  beforeEach(() => {
    receiver.requests.length = 0;
    holds = false;
  });

  const openPortal = async (javaScriptEnabled: boolean): Promise<Page> => {
    const context = await browser.newContext({ javaScriptEnabled });
    if (javaScriptEnabled) await context.clock.install();
    const value = (await enterPortal(service, client)).cookies.get('cds_portal_session')!;
    await context.addCookies([{ name: 'cds_portal_session', value, url: service.url }]);
    const page = await context.newPage();
    await page.goto(`${service.url}/portal`);
    return page;
  };
  // An attempt that waits for such an answer does not end by itself.
  let limit: HeldTimers | undefined;
  const holdAnswers = () => {
    holds = true;
    limit = HeldTimers.hold(10_000, 15_000, 'guarded-http-client');
  };
  const answerHeld = () => {
    holds = false;
    held.splice(0).forEach((answer) => answer());
    limit?.release();
  };
  return { service, receiver, holdAnswers, answerHeld, openPortal };
}

export const secretOn = (page: Page): Promise<string> => page.getByLabel('Signing secret').inputValue();

/** Waits for what the page shows when it updates itself; the clock of a page with scripts is put forward to that. */
export const updatesTo = async (page: Page, words: string, scripted = true): Promise<void> => {
  const shown = page.getByText(words).first();
  if (!scripted) return shown.waitFor();
  const shows = async (): Promise<boolean> => {
    await page.clock.runFor(2000);
    return shown.isVisible();
  };
  await until(`the page shows ${words}`, shows).catch(async (error: Error) => {
    error.message += `; it shows: ${await mainOf(page)}`;
    throw error;
  });
};

export const addEndpoint = async (page: Page, url: string): Promise<void> => {
  await followFirst(page, 'Add endpoint');
  await page.getByLabel('URL').fill(url);
  await page.getByLabel('Description').fill('Back office');
  await page.getByLabel('vehicle.updated').check();
  await press(page, 'Save');
};

/** A partner chooses batches, and sees on the page of a delivery what came with it; the same with scripts and without. */
function batchWay({ receiver, openPortal }: PortalInBrowser, javaScript: boolean): void {
  it('a user chooses batches, corrects their size, and sees what was in one', async () => {
    const page = await openPortal(javaScript);
    await followFirst(page, 'Add endpoint');
    await page.getByLabel('URL').fill(receiver.url('/hook'));
    await page.getByLabel('vehicle.updated').check();
    await page.getByText('Advanced').click();
    await page.getByLabel('Batch size').fill('101');
    await press(page, 'Save');
    expect(await page.getByLabel('Batch size').getAttribute('aria-invalid')).toBe('true');
    expect(await mainOf(page)).toContain('Batch size must be a whole number from 1 to 100');
    await page.getByLabel('Batch size').fill('20');
    await page.getByLabel('Batch wait').fill('250');
    await press(page, 'Save');
    expect(await mainOf(page)).toContain(
      'Up to 20 events in a request, for which the first one waits up to 250 ms',
    );

    await followFirst(page, 'Test');
    await page.getByLabel('Event type').selectOption('vehicle.updated');
    await press(page, 'Send test');
    await page.waitForURL('**/portal/deliveries/*');
    await updatesTo(page, 'In a batch of 1 event', javaScript);
    await page.getByText('In a batch of 1 event').first().click();
    const [{ body, headers }] = receiver.requests as [Receiver['requests'][number]];
    expect(await mainOf(page)).toContain(headers['webhook-id']);
    expect(await mainOf(page)).toContain('vehicle.updated (this one)');
    expect(JSON.parse(body)).toMatchObject({ type: 'batch', data: [{ type: 'vehicle.updated' }] });
  });
}

/** The first way of a partner through the portal, as a test; it is the same with scripts and without. */
export function portalWays(portal: PortalInBrowser, javaScript: boolean): void {
  const { receiver, openPortal } = portal;
  batchWay(portal, javaScript);

  it('a user adds an endpoint, sees why a test fails, corrects the URL, and resends', async () => {
    const page = await openPortal(javaScript);
    expect(await mainOf(page)).toContain('There are no endpoints yet');
    await addEndpoint(page, 'ftp://partner.example');
    expect(await page.getByLabel('URL').getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('URL').inputValue()).toBe('ftp://partner.example');
    expect(await page.getByLabel('vehicle.updated').isChecked()).toBe(true);
    await page.getByLabel('URL').fill(receiver.url('/hok'));
    await press(page, 'Save');
    expect(await saidFirst(page)).toContain('Endpoint added');

    await followFirst(page, 'Test');
    await page.getByLabel('Event type').selectOption('vehicle.updated');
    await press(page, 'Send test');
    await page.waitForURL('**/portal/deliveries/*');
    await updatesTo(page, 'no such path', javaScript);
    for (const words of ['Failed', 'Status 404', 'Check the path of the URL', 'no such path']) {
      expect(await mainOf(page)).toContain(words);
    }
    const delivery = page.url();
    await followFirst(page, 'Edit endpoint');
    await page.getByLabel('URL').fill(receiver.url('/hook'));
    await press(page, 'Save');
    await page.goto(delivery);
    await press(page, 'Resend');
    await page.getByText('Resend requested').waitFor();
    await updatesTo(page, 'thank you', javaScript);
    expect(await mainOf(page)).toContain('Delivered');
    const ids = receiver.requests.map(({ headers }) => headers['webhook-id']);
    expect(ids).toEqual([delivery.split('/').at(-1), delivery.split('/').at(-1)]);

    await followFirst(page, 'Overview');
    expect(await mainOf(page)).toContain('50 % of 2 attempts');
    await followFirst(page, 'Deliveries');
    await page.getByLabel('State').selectOption('failed');
    await press(page, 'Filter');
    expect(await mainOf(page)).toContain('No deliveries match');
  });
}

/** Further ways, each step of which test/e2e shows over HTTP too. */
export function furtherPortalWays(
  { service, receiver, holdAnswers, answerHeld, openPortal }: PortalInBrowser,
  javaScript: boolean,
): void {
  it('a user reveals the secret, rotates it, and checks a received delivery', async () => {
    const page = await openPortal(javaScript);
    await addEndpoint(page, receiver.url());
    expect(await secretOn(page)).toMatch(/^whsec_•+$/);
    await press(page, 'Reveal secret');
    const before = await secretOn(page);
    await followFirst(page, 'Rotate secret');
    expect(await mainOf(page)).toContain('stays valid for 24 more hours, until');
    await press(page, 'Rotate secret');
    expect(await mainOf(page)).toContain('The old one is also valid until');
    await press(page, 'Reveal secret');
    const after = await secretOn(page);
    expect(after).not.toBe(before);

    await followFirst(page, 'Test');
    await press(page, 'Send test');
    await page.waitForURL('**/portal/deliveries/*');
    await updatesTo(page, 'thank you', javaScript);
    const { headers, body } = receiver.requests[0]!;
    for (const secret of [before, after]) {
      new Webhook(secret).verify(body, headers as Record<string, string>);
    }
    await followFirst(page, 'Verify signatures');
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      await page.getByLabel(name, { exact: true }).fill(headers[name] as string);
    }
    await page.getByLabel('Body').fill(body);
    await press(page, 'Check');
    expect(await saidFirst(page)).toContain('They match');
    await page.getByLabel('Body').fill(body.replace('works', 'fails'));
    await press(page, 'Check');
    expect(await saidFirst(page)).toContain('The body is not the one that we sent');
    expect(await page.content()).not.toContain(after.slice(6));
  });

  it('a user recovers failed deliveries and watches the progress, disables, deletes, and logs out', async () => {
    const page = await openPortal(javaScript);
    await addEndpoint(page, receiver.url('/hook'));
    const endpoint = page.url();
    const target = await service.app.get(EndpointsService).get(endpoint.split('/').at(-1)!);
    for (let n = 0; n < 3; n++) await seedDelivery(service, target, FAILED);
    holdAnswers();
    await followFirst(page, 'Recover');
    expect(await mainOf(page)).toContain('3 deliveries failed');
    await press(page, 'Recover');
    await page.getByText('0 of 3 deliveries done').waitFor();
    answerHeld();
    await updatesTo(page, 'All done', javaScript);
    expect(await page.getByRole('progressbar').getAttribute('value')).toBe('3');

    await page.goto(endpoint);
    await press(page, 'Disable');
    expect(await saidFirst(page)).toContain('Endpoint disabled');
    await press(page, 'Enable');
    expect(await saidFirst(page)).toContain('Endpoint enabled');
    await followFirst(page, 'Delete');
    await press(page, 'Delete');
    expect(await mainOf(page)).toContain('There are no endpoints yet');
    await openVisitorMenu(page);
    await press(page, 'Log out');
    expect(await mainOf(page)).toContain('You are not logged in to the webhook portal');
    await page.goBack();
    await page.reload();
    expect(await mainOf(page)).toContain('You are not logged in to the webhook portal');
  });
}
