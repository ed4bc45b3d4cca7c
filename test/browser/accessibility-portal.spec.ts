import { PORTAL_PAGES } from './portal-pages.js';
import { checkPages } from './page-checks.js';

describe('every page of the webhook portal', () => checkPages(PORTAL_PAGES));
