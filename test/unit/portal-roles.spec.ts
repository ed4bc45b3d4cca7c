import { PORTAL_ROUTES } from '#entrypoints/webhook-portal/frame/portal-routes.js';
import { WebhookPortalModule } from '#entrypoints/webhook-portal/webhook-portal.module.js';
import { declaredRoutes } from '../support/console-routes.js';
import { ofFeature } from '../support/features.js';
import { routesOfRole } from '../support/route-roles.js';

/** Those before and outside of a session of the portal. */
const OPEN = [
  'GET /portal/login/:key',
  'POST /portal/login/:key',
  'POST /portal/logout',
  'GET /portal/sign-in',
  'POST /portal/sign-in/:client_id',
  'GET /webhook_portal',
];

const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;
const withRole = (role: string): string[] => routesOfRole(PORTAL_ROUTES.all(), role, '/portal');

/** Who may use which route of the portal: a change here is a change of what a member may do (contract §20). */
describe('The least role of the routes of the portal', () => {
  it('is known for every route', () => {
    const all = declaredRoutes(WebhookPortalModule, '/portal').map(nameOf);
    expect([...PORTAL_ROUTES.all().map(nameOf), ...OPEN].sort()).toEqual(all.sort());
  });

  it('is viewer for pages that only show something, and for checking a signature', () => {
    expect(withRole('viewer')).toEqual([
      ' GET',
      ...ofFeature('client-contacts', ['/contacts GET']),
      '/credentials GET',
      '/credentials/secret GET',
      '/deliveries GET',
      '/deliveries/:id GET',
      '/deliveries/csv GET',
      '/endpoints/:id GET',
      '/endpoints/:id/headers GET',
      '/endpoints/:id/secret GET',
      '/event_types GET',
      '/members GET',
      '/recoveries/:id GET',
      ...ofFeature('redirect-uri-requests', ['/redirect-uris GET']),
      '/refusals GET',
      '/requests GET',
      '/requests/:request_id GET',
      '/sandbox GET',
      ...ofFeature('live-sandbox', ['/sandbox/events GET']),
      '/search GET',
      '/usage GET',
      '/verify GET, POST',
    ]);
  });

  it('is developer for endpoints, their secrets, tests, resends, contacts and the sandbox', () => {
    expect(withRole('developer')).toEqual([
      ...ofFeature('client-contacts', ['/contacts POST', '/contacts/:id POST']),
      '/deliveries/:id/resend POST',
      '/deliveries/matching GET, POST',
      '/deliveries/selected POST',
      '/endpoints/:id/delete GET, POST',
      '/endpoints/:id/disable POST',
      '/endpoints/:id/edit GET, POST',
      '/endpoints/:id/enable POST',
      '/endpoints/:id/headers POST',
      '/endpoints/:id/missed POST',
      '/endpoints/:id/recover GET, POST',
      '/endpoints/:id/rotate GET, POST',
      '/endpoints/:id/rotate-key GET, POST',
      '/endpoints/:id/secret POST',
      '/endpoints/:id/test GET, POST',
      '/endpoints/new GET, POST',
      '/sandbox/drivers POST',
      '/sandbox/drivers/:id/consent POST',
      '/sandbox/drivers/:id/delete POST',
      '/sandbox/drivers/:id/events POST',
      '/sandbox/drivers/:id/past_days POST',
      '/sandbox/drivers/:id/sessions POST',
      '/sandbox/fail_refresh POST',
      '/sandbox/fail_requests POST',
    ]);
  });

  it('is admin for credentials, redirect URIs and members, and for a route that says nothing', () => {
    expect(withRole('admin')).toEqual([
      '/credentials/end POST',
      '/credentials/keys/add POST',
      '/credentials/keys/end POST',
      '/credentials/rotate POST',
      '/members POST',
      '/members/:user_id GET, POST',
      '/members/:user_id/remove GET, POST',
      '/members/withdraw/:id POST',
      ...ofFeature('redirect-uri-requests', ['/redirect-uris POST', '/redirect-uris/remove POST']),
    ]);
    expect(PORTAL_ROUTES.mayUse('developer', 'GET', '/portal/nothing/here')).toBe(false);
    expect(PORTAL_ROUTES.mayUse('admin', 'GET', '/portal/nothing/here')).toBe(true);
  });
});
