import { checkPages, everyFourth, expectFootOfPortal } from './page-checks.js';
import { PORTAL_PAGES } from './portal-pages.js';

describe('every page of the webhook portal, with the company in its footer and nothing about drivers', () =>
  checkPages(PORTAL_PAGES, expectFootOfPortal, undefined, everyFourth));
