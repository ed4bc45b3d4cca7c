import { EVERY_PAGE } from './every-page.js';
import { checkPages } from './page-checks.js';

describe('every other page', () => checkPages(EVERY_PAGE));
