import { driverWays, useDriver } from './driver-ways.js';

describe('in a browser with JavaScript switched off', () => driverWays(useDriver(), false));
