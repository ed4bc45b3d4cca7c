import { describeAreas, PAGES } from './endpoints.js';
import { describeRefusedForms } from './support/refused-forms.js';

describe('Pages', () => {
  describeAreas(PAGES, { runs: 1, describeMore: describeRefusedForms });
});
