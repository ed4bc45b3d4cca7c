import { ACCOUNT_PAGES } from './account-pages.js';
import { checkPages } from './page-checks.js';

describe('every page of the account', () => checkPages(ACCOUNT_PAGES));
