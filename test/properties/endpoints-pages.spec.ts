import { describeAreas } from './endpoints.js';

describe('Pages', () => {
  describeAreas(['pages of users', 'invitations', 'the portal', 'the sandbox', 'the console']);
});
