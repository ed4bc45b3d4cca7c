import '#entrypoints/admin/console/console.module.js';
import { consoleRoutes as declared, mayUseRoute } from '#entrypoints/admin/console/console-routes.js';
import { consoleRoutes } from '../support/console-routes.js';
import { ofFeature } from '../support/features.js';

const ROOT = '/admin/console';
const ROUTES = declared().map(({ method, path, least }) => [`${method} ${path}`, least] as const);
const withRole = (role: string): string[] =>
  ROUTES.filter(([, least]) => least === role)
    .map(([route]) => route.replace(ROOT, '') || route)
    .sort();

/** Who may use which route of the console: a change here is a change of what a role may do (contract §17). */
describe('The least role of the routes of the console', () => {
  it('is known for every route', () => {
    const all = consoleRoutes().map(({ method, path }) => `${method} ${path}`);
    expect(ROUTES.map(([route]) => route).sort()).toEqual(all.sort());
  });

  it('is viewer for pages that only show something', () => {
    expect(withRole('viewer')).toEqual([
      'GET ',
      'GET /*',
      ...ofFeature('four-eyes', ['GET /approvals', 'GET /approvals/:id']),
      'GET /audit',
      ...ofFeature('brand-editing', ['GET /brand']),
      'GET /clients',
      'GET /clients/:client_id',
      'GET /clients/:client_id/consents',
      'GET /clients/:client_id/grants',
      'GET /clients/:client_id/refusals',
      'GET /clients/:client_id/requests',
      'GET /deliveries',
      'GET /deliveries/:id',
      'GET /deliveries/csv',
      'GET /endpoints',
      'GET /endpoints/:id',
      'GET /event-types',
      'GET /event-types/:type',
      'GET /mails',
      'GET /notifications',
      'GET /purposes',
      ...ofFeature('redirect-uri-requests', ['GET /redirect-uris', 'GET /redirect-uris/:id']),
      'GET /requests/:request_id',
      'GET /scopes',
      'GET /search',
      'GET /users',
      'GET /users/:id',
      'GET /users/:id/applications',
      'GET /users/:id/grants',
      'GET /users/:id/identities',
      'GET /users/:id/members',
      'GET /users/invitations',
    ]);
  });

  it('is support for helping users', () => {
    expect(withRole('support')).toEqual([
      'GET /clients/:client_id/consents/:user_id/disconnect',
      'GET /clients/:client_id/consents/new',
      'GET /clients/:client_id/revoke',
      'GET /confirm-password',
      'GET /notifications/new',
      'GET /users/:id/applications/:client_id/disconnect',
      'GET /users/:id/disable',
      'GET /users/:id/edit',
      'GET /users/:id/password-link',
      'GET /users/:id/reset-second-factor',
      'GET /users/:id/revoke',
      'GET /users/new',
      'POST /clients/:client_id/consents/:user_id/disconnect',
      'POST /clients/:client_id/consents/new',
      'POST /clients/:client_id/revoke',
      'POST /confirm-password',
      'POST /deliveries/:id/resend',
      'POST /grants/:id/revoke',
      'POST /notifications/new',
      'POST /users/:id/applications/:client_id/disconnect',
      'POST /users/:id/disable',
      'POST /users/:id/edit',
      'POST /users/:id/enable',
      'POST /users/:id/password-link',
      'POST /users/:id/reset-second-factor',
      'POST /users/:id/revoke',
      'POST /users/new',
    ]);
  });

  it('is admin for everything else', () => {
    expect(withRole('admin')).toEqual([
      'GET /audit/csv',
      ...ofFeature('brand-editing', ['GET /brand/edit', 'GET /brand/logo']),
      'GET /clients/:client_id/delete',
      'GET /clients/:client_id/disable',
      'GET /clients/:client_id/edit',
      'GET /clients/:client_id/endpoints/new',
      'GET /clients/:client_id/logo',
      'GET /clients/:client_id/secret',
      'GET /clients/:client_id/secret/shown',
      'GET /clients/new',
      'GET /endpoints/:id/delete',
      'GET /endpoints/:id/edit',
      'GET /endpoints/:id/secret',
      'GET /event-types/:type/edit',
      'GET /event-types/:type/versions/:version',
      'GET /event-types/new',
      'GET /purposes/:purpose/delete',
      'GET /purposes/:purpose/edit',
      'GET /purposes/new',
      'GET /scopes/:name/edit',
      'GET /scopes/new',
      'GET /users/:id/erase',
      'GET /users/:id/identities/:provider/remove',
      'GET /users/:id/make-operator',
      'GET /users/:id/members/:user_id/remove',
      'GET /users/:id/members/new',
      'GET /users/:id/remove-operator',
      'GET /users/csv',
      'GET /users/invitations/new',
      ...ofFeature('four-eyes', ['POST /approvals/:id/approve', 'POST /approvals/:id/reject']),
      ...ofFeature('brand-editing', ['POST /brand/edit', 'POST /brand/logo', 'POST /brand/logo/remove']),
      'POST /clients/:client_id/delete',
      'POST /clients/:client_id/disable',
      'POST /clients/:client_id/edit',
      'POST /clients/:client_id/enable',
      'POST /clients/:client_id/endpoints/new',
      'POST /clients/:client_id/logo',
      'POST /clients/:client_id/logo/remove',
      'POST /clients/:client_id/secret',
      'POST /clients/new',
      'POST /endpoints/:id/delete',
      'POST /endpoints/:id/disable',
      'POST /endpoints/:id/edit',
      'POST /endpoints/:id/enable',
      'POST /event-types/:type/edit',
      'POST /event-types/:type/versions/:version',
      'POST /event-types/new',
      'POST /purposes/:purpose/delete',
      'POST /purposes/:purpose/edit',
      'POST /purposes/new',
      ...ofFeature('redirect-uri-requests', [
        'POST /redirect-uris/:id/approve',
        'POST /redirect-uris/:id/reject',
      ]),
      'POST /scopes/:name/edit',
      'POST /scopes/new',
      'POST /users/:id/erase',
      'POST /users/:id/identities/:provider/remove',
      'POST /users/:id/make-operator',
      'POST /users/:id/members/:user_id/remove',
      'POST /users/:id/members/new',
      'POST /users/:id/remove-operator',
      'POST /users/invitations/new',
      'POST /users/invitations/withdraw/:id',
    ]);
  });

  it.each([
    ['viewer', 'GET', '/users/user01HN2NJ9NMRZBXT1H6FT9N7735', true],
    ['viewer', 'GET', '/users/new', false],
    ['support', 'GET', '/users/new', true],
    ['support', 'POST', '/clients/new', false],
    ['support', 'GET', '/nothing/here', false],
    ['admin', 'GET', '/nothing/here', true],
  ] as const)('decides for a path: %s, %s %s: %s', (role, method, path, may) => {
    expect(mayUseRoute(role, method, `${ROOT}${path}`)).toBe(may);
  });
});
