import type { Page } from 'playwright-core';

/** Notes what moves on every page that is opened from now on, after it was shown as a whole. */
export const watchShifts = (page: Page): Promise<unknown> =>
  page.addInitScript(() => {
    const shifts: { at: number; moved: string[] }[] = [];
    let wholeAt = Infinity;
    // A page that has been read in part, on a busy machine, may be shown in part; the frame after that has the rest.
    document.addEventListener('DOMContentLoaded', () =>
      requestAnimationFrame(() => requestAnimationFrame((time) => void (wholeAt = time))),
    );
    const moved = () => shifts.filter(({ at }) => at >= wholeAt).flatMap((shift) => shift.moved);
    Object.assign(globalThis, { moved });
    new PerformanceObserver((list) => {
      for (const each of list.getEntries()) {
        const { sources } = each as PerformanceEntry & { sources: { node: Node | null }[] };
        shifts.push({
          at: each.startTime,
          moved: sources.map(({ node }) => (node as Element | null)?.outerHTML ?? 'a text'),
        });
      }
    }).observe({ type: 'layout-shift', buffered: true });
  });

/** What has moved on the page that is open: the HTML of each element. */
export const movedOn = (page: Page): Promise<string[]> =>
  page.evaluate(() => (Reflect.get(globalThis, 'moved') as () => string[])());
