import { describeAreas, PAGES, PROGRAMS } from './endpoints.js';
import { describeRefusedForms } from './support/refused-forms.js';

describe('All endpoints, in a longer search', () => {
  describeAreas([...PAGES, ...PROGRAMS], {
    runs: 1,
    describeMore: (surveyed) => describeRefusedForms(surveyed, { everyKind: true }),
  });
});
