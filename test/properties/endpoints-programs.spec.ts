import { describeAreas, PROGRAMS } from './endpoints.js';

describe('Endpoints for programs', () => {
  describeAreas(PROGRAMS, { runs: 1 });
});
