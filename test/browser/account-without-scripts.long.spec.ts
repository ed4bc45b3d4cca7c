import { accountWays, useAccount } from './account-ways.js';

describe('on the account page in a browser with JavaScript switched off', () =>
  accountWays(useAccount(), false));
