import { describeFirstWays } from '../support/first-ways-suite.js';
import { ALL_AT_ONCE } from '../support/foreign-conditions.js';

// Each alone is in foreign-database.long.spec.ts.
describeFirstWays([ALL_AT_ONCE]);
