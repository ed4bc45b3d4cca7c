import { describeFirstWays } from '../support/first-ways-suite.js';
import { FOREIGN_DATABASES } from '../support/foreign-conditions.js';

describeFirstWays(FOREIGN_DATABASES);
