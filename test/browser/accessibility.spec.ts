import { ACCOUNT_PAGES } from './account-pages.js';
import { CONSOLE_PAGES } from './console-pages.js';
import { EVERY_PAGE } from './every-page.js';
import { checkPages } from './page-checks.js';
import { PORTAL_PAGES } from './portal-pages.js';

const PAGES = { ...EVERY_PAGE, ...ACCOUNT_PAGES, ...CONSOLE_PAGES, ...PORTAL_PAGES };

// One of each kind: a form, a refusal, a list, a chart, a long text. All of them are in the files *.long.spec.ts.
describe('a sample of all pages', () =>
  checkPages(
    Object.fromEntries(
      [
        'login refused',
        'consent',
        'account with an application',
        'guide with tables',
        'console overview',
        'console clients',
        'a delivery that failed',
      ].map((name) => [name, PAGES[name]!]),
    ),
  ));
