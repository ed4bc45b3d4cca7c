import { accountWays, furtherAccountWays, useAccount } from './account-ways.js';

describe('on the account page in a browser', () => {
  const account = useAccount();

  describe('with JavaScript switched off', () => {
    accountWays(account, false);
    if (process.env.NIGHTLY) furtherAccountWays(account, false);
  });

  describe('with JavaScript', () => furtherAccountWays(account, true));
});
