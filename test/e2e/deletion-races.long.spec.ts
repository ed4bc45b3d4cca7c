import { describeDeletionRaces } from '../support/deletion-races-suite.js';

describeDeletionRaces([1, 2, 3]);
