import { ACCOUNT_PAGES } from './account-pages.js';
import { EVERY_PAGE } from './every-page.js';
import { checkPages, everyFourth, expectFootOfPortal } from './page-checks.js';

const OF_THE_PORTAL = ['portal link', 'portal link gone', 'portal signed out'];

describe('every page of the account, and every other page, with the portal’s footer on pages about the portal', () =>
  checkPages(
    { ...ACCOUNT_PAGES, ...EVERY_PAGE },
    async (page, name) => {
      if (OF_THE_PORTAL.includes(name)) await expectFootOfPortal(page);
    },
    undefined,
    everyFourth,
  ));
