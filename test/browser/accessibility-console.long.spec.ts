import { CONSOLE_PAGES } from './console-pages.js';
import { checkPages } from './page-checks.js';

describe('every page of the console', () => checkPages(CONSOLE_PAGES));
