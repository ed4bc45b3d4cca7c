import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { MAIL_ENV } from '../support/mail-server.js';
import { useService } from '../support/test-service.js';
import { WEBHOOK_ENV } from '../support/webhooks.js';
import { launchChromium } from './chromium.js';
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

interface Finding {
  id: string;
  nodes: { html: string }[];
}

/** The rules that look at colours and sizes. All others look at what is on the page and what of it is shown. */
const RULES_OF_STYLE = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable'];

/** Runs rules of axe, or all, including best practices; each passed rule is reported with one place only. */
async function runAxe(page: Page, rules?: string[]): Promise<{ violations: Finding[]; passes: Finding[] }> {
  if (!(await page.evaluate(`'axe' in globalThis`))) await page.evaluate(AXE);
  const runOnly = rules && { type: 'rule', values: rules };
  return page.evaluate(`axe.run(${JSON.stringify({ resultTypes: ['violations'], runOnly })})`);
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
  expect(await page.getByRole('contentinfo').innerText()).toBe('Charging Data Service – webhook portal');
}

/** Checks every page in each of its states, and additionally `alsoHolds`, with further settings; to be called by a spec. */
export function checkPages(
  pages: Record<string, PageOpener>,
  alsoHolds: (page: Page, name: string) => Promise<void> = async () => undefined,
  env: Record<string, string> = {},
): void {
  const service = useService({ env: { ...MAIL_ENV, ...WEBHOOK_ENV, ...env } });
  let browser: Browser;
  let page: Page;
  let counter = 0;

  beforeAll(async () => {
    browser = await launchChromium();
    // One context for all: what Chromium keeps in its caches need not be loaded and compiled again for each page.
    page = await (await browser.newContext({ reducedMotion: 'reduce' })).newPage();
  });
  beforeEach(async () => {
    await page.setViewportSize(DESKTOP);
    await page.emulateMedia({ colorScheme: 'light' });
  });
  // A page that is still pending reloads itself: the next test begins in a new one.
  afterEach(async () => {
    const context = page.context();
    await page.close();
    await context.clearCookies();
    page = await context.newPage();
  });
  afterAll(() => browser.close());

  it.each(Object.keys(pages))(
    '%s, with the longest names: axe finds nothing, in light and dark, small and large; nothing to click is under 24 px, no word is broken; rows of lists have two lines on a phone; it never scrolls sideways at 320 px and works with text of twice the size',
    async (name) => {
      const cast = await newCast(service, { ...LONG, email: `x${++counter}${LONG.email}` });
      await pages[name]!(page, service, cast);
      await alsoHolds(page, name);

      await expectAccessible(page, { ...DESKTOP, colorScheme: 'light' });
      await expectTargetsLargeEnough(page, DESKTOP);
      await expectWordsWhole(page, DESKTOP);
      const shown = await whatIsShown(page);

      await page.setViewportSize(MEDIUM);
      await expectWordsWhole(page, MEDIUM);

      await page.setViewportSize(PHONE);
      await page.emulateMedia({ colorScheme: 'dark' });
      const rules = (await whatIsShown(page)) === shown ? RULES_OF_STYLE : undefined;
      await expectAccessible(page, { ...PHONE, colorScheme: 'dark' }, rules);
      await expectTargetsLargeEnough(page, PHONE);
      await expectWordsWhole(page, PHONE);
      await expectClientNameInFewLines(page);
      await expectRowsOfTwoLines(page);

      await page.setViewportSize(SMALL);
      await expectWordsWhole(page, SMALL);
      await expectNoSidewaysScroll(page);

      await page.setViewportSize(ENLARGED);
      await expectUsableWithLargeText(page);
    },
  );
}

export async function expectAccessible(page: Page, shownAs: object, rules?: string[]): Promise<void> {
  const { violations, passes } = await runAxe(page, rules);
  const found = violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) }));
  expect({ ...shownAs, found }).toEqual({ ...shownAs, found: [] });
  expect(passes.map(({ id }) => id)).toContain('color-contrast');
}

/**
 * WCAG 2.2, 2.5.8: targets are at least 24 CSS px high and wide. A link within a sentence is as high as its line, and a box can
 * also be clicked by its label. Bars of charts are as high as their values: the table beside them has the same links.
 */
async function expectTargetsLargeEnough(page: Page, viewport: Viewport): Promise<void> {
  const small = await page.evaluate(() => {
    const isShown = (element: Element) => element.checkVisibility() && !element.matches('.skip-link, svg a');
    const isInSentence = (element: Element) => {
      const block = element.closest('p, li, dd, td, th, summary, small, label')!;
      const text = (from: Element | null) => (from?.textContent ?? '').trim().length;
      return getComputedStyle(element).display === 'inline' && text(block) > text(element);
    };
    return [
      ...document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary'),
    ]
      .filter((element) => isShown(element) && !isInSentence(element))
      .map((element) => {
        const boxes = [element, ...((element as HTMLInputElement).labels ?? [])];
        const sizes = boxes.map((box) => box.getBoundingClientRect());
        const [width, height] = [
          Math.max(...sizes.map((s) => s.width)),
          Math.max(...sizes.map((s) => s.height)),
        ];
        return { width, height, html: element.outerHTML.slice(0, 120) };
      })
      .filter(({ width, height }) => width < 23.9 || height < 23.9);
  });
  expect({ ...viewport, small }).toEqual({ ...viewport, small: [] });
}

/** Ordinary words must not be broken; ids, addresses and names without a place to break may be. */
async function expectWordsWhole(page: Page, viewport: Viewport): Promise<void> {
  const broken = await page.evaluate(() => {
    const found: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode as Text;
      if (!node.parentElement?.checkVisibility()) continue;
      for (const { 0: word, index } of node.data.matchAll(/(?<!\S)\p{L}{2,20}(?=[.,:;!?]?(\s|$))/gu)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
        if (lines.size > 1) found.push(`${word} in ${node.parentElement.outerHTML.slice(0, 120)}`);
      }
    }
    return found;
  });
  expect({ ...viewport, broken }).toEqual({ ...viewport, broken: [] });
}

/** On a phone the longest name of a client takes at most four lines in a heading and at the top of the portal. */
async function expectClientNameInFewLines(page: Page): Promise<void> {
  const tall = await page.evaluate((name) => {
    const shownLines = (heading: Element, text: Text) => {
      const range = document.createRange();
      const start = text.data.indexOf(name);
      range.setStart(text, start);
      range.setEnd(text, start + name.length);
      const { bottom } = heading.getBoundingClientRect();
      const middles = [...range.getClientRects()].map(({ top, height }) => Math.round(top + height / 2));
      return new Set(middles.filter((middle) => middle < bottom)).size;
    };
    return [...document.querySelectorAll('h1, h2, .identity-name')]
      .filter((heading) => heading.checkVisibility() && heading.textContent.includes(name))
      .map((heading) => {
        const walker = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
          const text = walker.currentNode as Text;
          if (text.data.includes(name)) return { lines: shownLines(heading, text), html: heading.outerHTML };
        }
        throw new Error(`the name is not in one piece: ${heading.outerHTML}`);
      })
      .filter(({ lines }) => lines > 4);
  }, LONG.client);
  expect({ ...PHONE, tall }).toEqual({ ...PHONE, tall: [] });
}

/** On a phone a row of a list takes two lines, and no list is without an end; text, as in guides, may be long. */
async function expectRowsOfTwoLines(page: Page): Promise<void> {
  const found = await page.evaluate(() => ({
    tall: [...document.querySelectorAll('table.list tbody tr')]
      .filter((row) => row.checkVisibility() && row.getBoundingClientRect().height > 70)
      .map((row) => row.outerHTML.slice(0, 300)),
    isEndless:
      document.querySelector('table.list, .entries') !== null && document.documentElement.scrollHeight > 9000,
  }));
  expect({ ...PHONE, ...found }).toEqual({ ...PHONE, tall: [], isEndless: false });
}

export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const widths = await page.evaluate(() => {
    const { scrollWidth } = document.documentElement;
    const outside = [...document.querySelectorAll('body *')].filter(
      (element) => element.getBoundingClientRect().right > 320.5 && !element.matches('.skip-link'),
    );
    return { scrollWidth, outside: outside.map((element) => element.outerHTML.slice(0, 100)) };
  });
  expect(widths).toEqual({ scrollWidth: 320, outside: [] });
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
