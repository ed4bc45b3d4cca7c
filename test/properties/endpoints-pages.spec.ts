import { describeAreas } from './endpoints.js';

describe('Pages', () => {
  describeAreas(['pages of users', 'the portal', 'the sandbox', 'the console']);
});
