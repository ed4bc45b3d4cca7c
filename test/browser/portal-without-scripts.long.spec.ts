import { furtherPortalWays, portalWays, usePortal } from './portal-ways.js';

describe('in the webhook portal in a browser', () => {
  const portal = usePortal();

  describe('with JavaScript switched off', () => {
    portalWays(portal, false);
    if (process.env.NIGHTLY) furtherPortalWays(portal, false);
  });

  describe('with JavaScript', () => furtherPortalWays(portal, true));
});
