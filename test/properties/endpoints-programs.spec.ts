import { describeAreas } from './endpoints.js';

describe('Endpoints for programs', () => {
  describeAreas([
    'the OAuth endpoints',
    "partners' endpoints",
    'the feed of events',
    'publishing events',
    'the admin API',
    'what is public',
  ]);
});
