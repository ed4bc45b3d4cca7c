import { portalWays, usePortal } from './portal-ways.js';

describe('in the webhook portal in a browser with JavaScript switched off', () =>
  portalWays(usePortal(), false));
