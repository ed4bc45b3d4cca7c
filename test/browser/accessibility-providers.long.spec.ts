import { checkPages, everyFourth } from './page-checks.js';
import { PROVIDER_PAGES, PROVIDERS_ENV } from './provider-pages.js';

describe('every page that identity providers are on', () =>
  checkPages(PROVIDER_PAGES, undefined, PROVIDERS_ENV, everyFourth));
