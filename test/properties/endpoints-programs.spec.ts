import { describeRooms } from './endpoints.js';

describe('Endpoints for programs', () => {
  describeRooms(['the OAuth endpoints', "partners' endpoints", 'the admin API and events', 'what is public']);
});
