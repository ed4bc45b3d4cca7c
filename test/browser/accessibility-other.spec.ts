import { EVERY_PAGE } from './every-page.js';
import { checkPages, expectFootOfPortal } from './page-checks.js';

const OF_THE_PORTAL = ['portal link', 'portal link gone', 'portal signed out'];

describe('every other page, those about the portal with its foot', () =>
  checkPages(EVERY_PAGE, async (page, name) => {
    if (OF_THE_PORTAL.includes(name)) await expectFootOfPortal(page);
  }));
