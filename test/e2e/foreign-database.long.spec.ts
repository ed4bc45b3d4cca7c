import { describeFirstWays } from '../support/first-ways-suite.js';
import { FOREIGN_CONDITIONS } from '../support/foreign-conditions.js';

describeFirstWays(FOREIGN_CONDITIONS);
