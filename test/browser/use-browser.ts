import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { CONDITION_OF_RUN } from '../support/foreign-conditions.js';
import { sharedChromium } from './chromium.js';

/** Whether the test means to cause this complaint, by its words and the address that they are about. */
type IsMeant = (complaint: string, url: string) => boolean;

/** Chromium reports pages with these statuses as errors. */
export const answersWith = (...statuses: number[]): IsMeant => {
  const report = new RegExp(`the server responded with a status of (${statuses.join('|')})`);
  return (complaint) => report.test(complaint);
};

export interface TestBrowser {
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  /** In a context of its own. */
  newPage(options?: BrowserContextOptions): Promise<Page>;
  /** What pages have complained about in this test; nothing may be left at its end. */
  complaints: string[];
}

/** What people do with each form (../support/foreign-conditions.ts). */
const HABITS = {
  // As a double click does: the browser breaks off the first request, and shows the answer to the second.
  twice: (context: BrowserContext) =>
    context.addInitScript(() =>
      addEventListener(
        'submit',
        (event) => {
          const { target, submitter } = event;
          setTimeout(() => event.defaultPrevented || (target as HTMLFormElement).requestSubmit(submitter));
        },
        { once: true, capture: true },
      ),
    ),
  // The same page in another tab, before the form of the first is sent.
  'in two tabs': (context: BrowserContext) =>
    context.route('**', async (route, request) => {
      if (request.isNavigationRequest() && request.method() === 'POST') {
        const tab = await context.newPage();
        await tab.goto(request.frame().url());
        await tab.close();
      }
      await route.continue();
    }),
};

/**
 * A browser for the tests of a file, from `beforeAll` on. After each test it closes what the test has opened, and expects that no page
 * has complained: of an error of a script, a violated policy, or a request that failed.
 */
export function useBrowser(isMeant: IsMeant = () => false): TestBrowser {
  let browser: Browser;
  const contexts: BrowserContext[] = [];
  const complaints: string[] = [];
  const complain = (complaint: string, url = ''): void => {
    if (!isMeant(complaint, url)) complaints.push(complaint);
  };

  beforeAll(async () => void (browser = await sharedChromium()));
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });

  const newContext = async (options?: BrowserContextOptions): Promise<BrowserContext> => {
    const context = await browser.newContext(options);
    contexts.push(context);
    await (CONDITION_OF_RUN?.forms && HABITS[CONDITION_OF_RUN.forms](context));
    context.on('weberror', (error) => complain(String(error.error())));
    context.on('requestfailed', (request) => {
      const { errorText = '' } = request.failure() ?? {};
      // A page that is left aborts its pending loads.
      if (errorText !== 'net::ERR_ABORTED') complain(`${errorText}: ${request.url()}`, request.url());
    });
    context.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) complain(message.text(), message.location().url);
    });
    return context;
  };
  return {
    newContext,
    newPage: async (options) => (await newContext(options)).newPage(),
    complaints,
  };
}
