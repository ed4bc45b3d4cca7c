import { describeAreas } from './endpoints.js';

describe('Endpoints for programs', () => {
  describeAreas([
    'the OAuth endpoints',
    "partners' endpoints",
    'the sandbox for programs',
    'the admin API and events',
    'what is public',
  ]);
});
