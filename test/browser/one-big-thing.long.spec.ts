import type { Page } from 'playwright-core';
import { MAIL_ENV } from '../support/mail-server.js';
import { useService } from '../support/test-service.js';
import { WEBHOOK_ENV } from '../support/webhooks.js';
import { ACCOUNT_PAGES } from './account-pages.js';
import { sharedChromium } from './chromium.js';
import { CONSOLE_PAGES } from './console-pages.js';
import { EVERY_PAGE, newCast } from './every-page.js';
import { filledButtons } from './filled-buttons.js';
import { PORTAL_PAGES } from './portal-pages.js';

/** By Scalar: its buttons are its own. */
const isForeign = (name: string): boolean => name.startsWith('reference of the API');
const PAGES = { ...EVERY_PAGE, ...ACCOUNT_PAGES, ...CONSOLE_PAGES, ...PORTAL_PAGES };

/* What a page is for stands out because nothing else does. */
describe('Every page', () => {
  const service = useService({ env: { ...MAIL_ENV, ...WEBHOOK_ENV } });
  let page: Page;
  beforeAll(async () => {
    page = await (await (await sharedChromium()).newContext()).newPage();
  });
  afterEach(async () => {
    await page.unrouteAll();
    await page.goto('about:blank');
    await page.context().clearCookies();
  });
  afterAll(() => page.context().close());

  it.each(Object.keys(PAGES).filter((name) => !isForeign(name)))(
    'has at most one filled button: %s',
    async (name) => {
      const cast = await newCast(service, { driver: 'Ada', owner: 'Voltwise Ltd', client: 'Voltwise' });
      await PAGES[name]!(page, service, cast);
      const filled = await page.evaluate(filledButtons);
      expect({ name, filled: filled.length > 1 ? filled : [] }).toEqual({ name, filled: [] });
    },
  );
});
