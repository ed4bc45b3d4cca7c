import { describePlannedEvents } from '../support/planned-events-suite.js';

describePlannedEvents(['waits for its turn', 'takes them out of the plan', 'numbers them']);
