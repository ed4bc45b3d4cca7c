import { driverWays, furtherDriverWays, useDriver } from './driver-ways.js';

describe('in a browser', () => {
  const atApplication = useDriver();

  describe('with JavaScript switched off', () => {
    driverWays(atApplication, false);
    if (process.env.NIGHTLY) furtherDriverWays(atApplication, false);
  });

  describe('with JavaScript', () => furtherDriverWays(atApplication, true));
});
