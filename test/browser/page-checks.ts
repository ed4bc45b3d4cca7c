import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { startService, type TestService } from '../support/test-service.js';
import { launchChromium } from './chromium.js';
import { newCast, type Visit } from './every-page.js';

const PHONE = { width: 360, height: 740 };
const DESKTOP = { width: 1280, height: 800 };
/** The longest names and addresses that can be stored, without a place to break. */
const LONG = {
  driver: 'Donaudampfschifffahrtsgesellschaftskapitänin'.repeat(5).slice(0, 200),
  owner: 'W'.repeat(200),
  client: `${'Elektrofahrzeugladedatenauswertungsgesellschaft'.repeat(3)}`.slice(0, 100),
  email: `${'l'.repeat(60)}@${'a-long-label.'.repeat(14)}example`,
};
// Read as text and run in the page: compiled for the tests, axe would not find its global object.
const fromAxe = createRequire(
  createRequire(join(process.cwd(), 'package.json')).resolve('@axe-core/playwright'),
);
const AXE = readFileSync(fromAxe.resolve('axe-core/axe.min.js'), 'utf8');

interface Finding {
  id: string;
  nodes: { html: string }[];
}

/** Every rule that axe has, best practices too. */
async function runAxe(page: Page): Promise<{ violations: Finding[]; passes: Finding[] }> {
  await page.evaluate(AXE);
  return page.evaluate('axe.run()');
}

/** What holds for every page in every of its states: to be called by a spec. */
export function checkPages(pages: Record<string, Visit>): void {
  let service: TestService;
  let browser: Browser;
  let counter = 0;

  beforeAll(async () => {
    service = await startService({ env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true' } });
    browser = await launchChromium();
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  it.each(Object.keys(pages))(
    '%s, with the longest names: nothing that axe objects to, in light and dark, small and large; never scrolls sideways at 320 px; can be used with text of twice the size',
    async (name) => {
      const cast = await newCast(service, { ...LONG, email: `x${++counter}${LONG.email}` });
      const context = await browser.newContext({ reducedMotion: 'reduce' });
      try {
        const page = await context.newPage();
        await pages[name]!(page, service, cast);
        await expectAccessible(page, DESKTOP, 'light');
        await expectAccessible(page, PHONE, 'dark');
        await expectNoSidewaysScroll(page);
        await expectUsableWithLargeText(page);
      } finally {
        await context.close();
      }
    },
  );
}

async function expectAccessible(
  page: Page,
  viewport: typeof PHONE,
  colorScheme: 'light' | 'dark',
): Promise<void> {
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  const { violations, passes } = await runAxe(page);
  const found = violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ html }) => html) }));
  expect({ colorScheme, ...viewport, found }).toEqual({ colorScheme, ...viewport, found: [] });
  expect(passes.map(({ id }) => id)).toContain('color-contrast');
}

async function expectNoSidewaysScroll(page: Page): Promise<void> {
  await page.setViewportSize({ width: 320, height: 640 });
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
  await page.setViewportSize({ width: 640, height: 800 });
  await page.evaluate(() => document.documentElement.style.setProperty('font-size', '200%'));
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  expect(overflow).toBeLessThanOrEqual(0);
  for (const button of await page.getByRole('button').all()) expect(await button.isVisible()).toBe(true);
}
