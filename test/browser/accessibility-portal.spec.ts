import { checkPages, expectFootOfPortal } from './page-checks.js';
import { PORTAL_PAGES } from './portal-pages.js';

describe('every page of the webhook portal, with whose it is at its foot and nothing of the drivers', () =>
  checkPages(PORTAL_PAGES, expectFootOfPortal));
