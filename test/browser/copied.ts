import type { Locator, Page } from 'playwright-core';

/** For how long a button says that it has copied. */
const SAID_MS = 2_000;

/** Presses a button that copies, and returns what it copied. The button then says so until the page is left, however long that takes. */
export async function copied(page: Page, button: Locator): Promise<string> {
  await page.evaluate((said) => {
    const { setTimeout } = globalThis;
    const held = (work: () => void, ms?: number) => (ms === said ? 0 : setTimeout(work, ms));
    globalThis.setTimeout = held as typeof setTimeout;
  }, SAID_MS);
  await button.click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  return page.evaluate(() => navigator.clipboard.readText());
}
