import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { CDPSession, Page } from 'playwright-core';
import { MAIL_ENV } from '../support/mail-server.js';
import { useService } from '../support/test-service.js';
import { WEBHOOK_ENV } from '../support/webhooks.js';
import { sharedChromium } from './chromium.js';
import { faultsOfLayout, type LookedFor } from './faults-of-layout.js';
import { newCast, type PageOpener } from './every-page.js';

const PHONE = { width: 360, height: 740 };
const DESKTOP = { width: 1280, height: 800 };
const MEDIUM = { width: 900, height: 800 };
const SMALL = { width: 320, height: 640 };
/** For text of twice the size: as much room as a window of half the width has for text of the usual size. */
const ENLARGED = { width: 640, height: 800 };
type Viewport = typeof PHONE;
/** The longest names and addresses that can be stored, without a place to break. */
const LONG = {
  driver: 'Donaudampfschifffahrtsgesellschaftskapitänin'.repeat(5).slice(0, 200),
  owner: 'W'.repeat(200),
  client: `${'Elektrofahrzeugladedatenauswertungsgesellschaft'.repeat(3)}`.slice(0, 100),
  email: `${'l'.repeat(60)}@${'a-long-label.'.repeat(14)}example`,
};
// Read as text and run in the page: if it were compiled for the tests, axe would not find its global object.
const installed = createRequire(join(process.cwd(), 'package.json'));
const AXE = readFileSync(installed.resolve('axe-core/axe.min.js'), 'utf8');

interface Found {
  violations: { id: string; nodes: string[] }[];
  passes: string[];
}

/** The rules that look at colours and sizes. All others look at what is on the page and what of it is shown. */
const RULES_OF_STYLE = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable'];

const sessions = new WeakMap<Page, Promise<CDPSession>>();

/** Evaluates a script as it is: `page.evaluate` passes the page a text to evaluate, which takes twice as long for one as long as axe. */
async function evaluateLong(page: Page, expression: string): Promise<void> {
  const session = sessions.get(page) ?? page.context().newCDPSession(page);
  sessions.set(page, session);
  const { exceptionDetails } = await (await session).send('Runtime.evaluate', { expression });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
}

/** Runs rules of axe, or all, including best practices; each passed rule is reported with one place only. */
async function runAxe(page: Page, rules?: string[]): Promise<Found> {
  const runOnly = rules && { type: 'rule', values: rules };
  // As little as is looked at: the whole result is as long as the page.
  const run = `globalThis.axe?.run(${JSON.stringify({ resultTypes: ['violations'], runOnly })}).then(
    ({ violations, passes }) => ({
      violations: violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) })),
      passes: passes.map(({ id }) => id),
    }),
  )`;
  const found = await page.evaluate<Found | undefined>(run);
  if (found) return found;
  await evaluateLong(page, AXE);
  return page.evaluate<Found>(run);
}

/** Of each element, whether it is shown, and whether as a part of a table. */
const whatIsShown = (page: Page): Promise<string> =>
  page.evaluate(() =>
    [...document.querySelectorAll('body, body *')]
      .map((element) => {
        const { display, visibility } = getComputedStyle(element);
        return display === 'none' || visibility !== 'visible' ? '-' : display.startsWith('table') ? 't' : 'o';
      })
      .join(''),
  );

/** Expects the footer on every page of the portal: it names the company and nothing about drivers. */
export async function expectFootOfPortal(page: Page): Promise<void> {
  // Not by its role: what Playwright loads into a page to find roles takes longer than this page to load.
  const foot = await page.evaluate(() => document.querySelector<HTMLElement>('body > footer')?.innerText);
  expect(foot).toBe('Charging Data Service – webhook portal');
}

/** In the files *.long.spec.ts: before a landing every fourth page is looked at, at night all are. */
export const everyFourth = (n: number): boolean => process.env.NIGHTLY !== undefined || n % 4 === 0;

/**
 * Checks pages in each of their states, and additionally `alsoHolds`, with further settings; to be called by a spec. `isLookedAt`: which
 * pages, by their number.
 */
export function checkPages(
  pages: Record<string, PageOpener>,
  alsoHolds: (page: Page, name: string) => Promise<void> = async () => undefined,
  env: Record<string, string> = {},
  isLookedAt: (n: number) => boolean = () => true,
): void {
  const service = useService({ env: { ...MAIL_ENV, ...WEBHOOK_ENV, ...env } });
  let page: Page;
  let counter = 0;

  beforeAll(async () => {
    page = await (await (await sharedChromium()).newContext({ reducedMotion: 'reduce' })).newPage();
  });
  beforeEach(async () => {
    await page.setViewportSize(DESKTOP);
    await page.emulateMedia({ colorScheme: 'light' });
  });
  // One page for all: a page of its own is a process of its own, in which everything is loaded and compiled again.
  afterEach(async () => {
    await page.unrouteAll();
    // Ends what is pending; and the same address with another #part would not be loaded again.
    await page.goto('about:blank');
    await page.context().clearCookies();
  });
  afterAll(() => page.context().close());

  const lookAt = async (name: string): Promise<void> => {
    const cast = await newCast(service, { ...LONG, email: `x${++counter}${LONG.email}` });
    await pages[name]!(page, service, cast);
    await alsoHolds(page, name);

    await expectAccessible(page, { ...DESKTOP, colorScheme: 'light' });
    await expectNoFaults(page, DESKTOP, { targets: true });
  };
  const expectNoFaultsOnPhones = async (): Promise<void> => {
    await expectNoFaults(page, PHONE, { targets: true, name: LONG.client, rows: true });
    await page.setViewportSize(SMALL);
    await expectNoFaults(page, SMALL, { width: SMALL.width });
  };
  const names = Object.keys(pages);

  it.each(names.filter((_name, n) => isLookedAt(n)))(
    '%s, with the longest names: axe finds nothing, in light and dark, small and large; nothing to click is under 24 px, no word is broken; rows of lists have two lines on a phone; it never scrolls sideways at 320 px and works with text of twice the size',
    async (name) => {
      await lookAt(name);
      const shown = await whatIsShown(page);

      await page.setViewportSize(MEDIUM);
      await expectNoFaults(page, MEDIUM);

      await page.setViewportSize(PHONE);
      await page.emulateMedia({ colorScheme: 'dark' });
      const rules = (await whatIsShown(page)) === shown ? RULES_OF_STYLE : undefined;
      await expectAccessible(page, { ...PHONE, colorScheme: 'dark' }, rules);
      await expectNoFaultsOnPhones();

      await page.setViewportSize(ENLARGED);
      await expectUsableWithLargeText(page);
    },
  );
}

export async function expectAccessible(page: Page, shownAs: object, rules?: string[]): Promise<void> {
  const { violations, passes } = await runAxe(page, rules);
  expect({ ...shownAs, found: violations }).toEqual({ ...shownAs, found: [] });
  expect(passes).toContain('color-contrast');
}

async function expectNoFaults(page: Page, viewport: Viewport, lookedFor: LookedFor = {}): Promise<void> {
  expect({ ...viewport, faults: await page.evaluate(faultsOfLayout, lookedFor) }).toEqual({
    ...viewport,
    faults: {},
  });
}

export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const { tooWide = [] } = await page.evaluate(faultsOfLayout, { width: SMALL.width });
  expect(tooWide).toEqual([]);
}

async function expectUsableWithLargeText(page: Page): Promise<void> {
  const found = await page.evaluate(() => {
    const root = document.documentElement;
    root.style.setProperty('font-size', '200%');
    const buttons = [
      ...document.querySelectorAll('button, [role=button], input:is([type=submit], [type=button])'),
    ];
    const gone = buttons
      .filter((button) => button.checkVisibility({ visibilityProperty: true }))
      .filter((button) => {
        const { width, height } = button.getBoundingClientRect();
        return width === 0 || height === 0;
      });
    return {
      isTooWide: root.scrollWidth > window.innerWidth,
      gone: gone.map((button) => button.outerHTML),
    };
  });
  expect(found).toEqual({ isTooWide: false, gone: [] });
}
