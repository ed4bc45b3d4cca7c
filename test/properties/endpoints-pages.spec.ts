import { describeAreas, PAGES } from './endpoints.js';
import { describeRefusedForms } from './support/refused-forms.js';

describe('Pages', () => {
  describeAreas(PAGES, { describeMore: describeRefusedForms });
});
