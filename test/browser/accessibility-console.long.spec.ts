import { CONSOLE_PAGES } from './console-pages.js';
import { checkPages, everySecond } from './page-checks.js';

describe('every page of the console', () => checkPages(CONSOLE_PAGES, undefined, undefined, everySecond));
