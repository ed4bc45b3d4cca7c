import { describeRooms } from './endpoints.js';

describe('Pages', () => {
  describeRooms(['pages of users', 'the portal', 'the console']);
});
