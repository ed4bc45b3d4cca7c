import { describePlannedEvents } from '../support/planned-events-suite.js';

// Where the most is done already; the other places are in sandbox.long.spec.ts.
describePlannedEvents(['numbers them']);
