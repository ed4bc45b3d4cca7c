import { describeAreas, PAGES, PROGRAMS } from './endpoints.js';

describe('All endpoints, in a longer search', () => {
  describeAreas([...PAGES, ...PROGRAMS], { runs: process.env.NIGHTLY ? 10 : 2 });
});
