import { describeDeletionRaces } from '../support/deletion-races-suite.js';

// More rounds are in deletion-races.long.spec.ts.
describeDeletionRaces([2]);
