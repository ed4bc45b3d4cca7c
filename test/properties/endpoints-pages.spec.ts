import { describeAreas } from './endpoints.js';
import { describeRefusedForms } from './support/refused-forms.js';

describe('Pages', () => {
  describeAreas(
    ['pages of users', 'invitations', 'the portal', 'the sandbox', 'the console'],
    describeRefusedForms,
  );
});
