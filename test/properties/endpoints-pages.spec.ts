import { describeRooms } from './endpoints.js';

describe('pages', () => {
  describeRooms(['pages of users', 'the portal', 'the console']);
});
