import { describeDeletionRaces } from '../support/deletion-races-suite.js';

// More rounds, with more at once, are in deletion-races.long.spec.ts.
describeDeletionRaces([2], 8, 600);
