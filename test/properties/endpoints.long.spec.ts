import { describeAreas, PAGES, PROGRAMS } from './endpoints.js';

describe('All endpoints, in a longer search', () => {
  describeAreas([...PAGES, ...PROGRAMS], { runs: 5 });
});
