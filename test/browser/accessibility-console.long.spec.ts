import { CONSOLE_PAGES } from './console-pages.js';
import { checkPages, everyFourth } from './page-checks.js';

describe('every page of the console', () => checkPages(CONSOLE_PAGES, undefined, undefined, everyFourth));
