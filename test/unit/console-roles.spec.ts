import '../../src/admin/console/console.module.js';
import { consoleRoutes as declared, mayUseRoute } from '../../src/admin/console/console-routes.js';
import { consoleRoutes } from '../support/console-routes.js';
import { routesOfRole } from '../support/route-roles.js';

const ROOT = '/admin/console';
const nameOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;
const withRole = (role: string): string[] => routesOfRole(declared(), role, ROOT);

/** Who may use which route of the console: a change here is a change of what a role may do (contract §17). */
describe('The least role of the routes of the console', () => {
  it('is known for every route', () => {
    expect(declared().map(nameOf).sort()).toEqual(consoleRoutes().map(nameOf).sort());
  });

  it('is viewer for pages that only show something', () => {
    expect(withRole('viewer')).toEqual([
      ' GET',
      '/* GET',
      '/approvals GET',
      '/approvals/:id GET',
      '/audit GET',
      '/clients GET',
      '/clients/:client_id GET',
      '/clients/:client_id/consents GET',
      '/clients/:client_id/grants GET',
      '/clients/:client_id/refusals GET',
      '/deliveries GET',
      '/deliveries/:id GET',
      '/endpoints GET',
      '/endpoints/:id GET',
      '/event-types GET',
      '/event-types/:type GET',
      '/mails GET',
      '/notifications GET',
      '/redirect-uris GET',
      '/redirect-uris/:id GET',
      '/scopes GET',
      '/users GET',
      '/users/:id GET',
      '/users/:id/applications GET',
      '/users/:id/grants GET',
      '/users/:id/identities GET',
      '/users/:id/members GET',
    ]);
  });

  it('is support for helping users', () => {
    expect(withRole('support')).toEqual([
      '/clients/:client_id/consents/:user_id/disconnect GET, POST',
      '/clients/:client_id/consents/new GET, POST',
      '/clients/:client_id/revoke GET, POST',
      '/confirm-password GET, POST',
      '/deliveries/:id/resend POST',
      '/grants/:id/revoke POST',
      '/notifications/new GET, POST',
      '/users/:id/applications/:client_id/disconnect GET, POST',
      '/users/:id/disable GET, POST',
      '/users/:id/edit GET, POST',
      '/users/:id/enable POST',
      '/users/:id/password-link GET, POST',
      '/users/:id/reset-second-factor GET, POST',
      '/users/:id/revoke GET, POST',
      '/users/new GET, POST',
    ]);
  });

  it('is admin for everything else', () => {
    expect(withRole('admin')).toEqual([
      '/approvals/:id/approve POST',
      '/approvals/:id/reject POST',
      '/clients/:client_id/delete GET, POST',
      '/clients/:client_id/disable GET, POST',
      '/clients/:client_id/edit GET, POST',
      '/clients/:client_id/enable POST',
      '/clients/:client_id/endpoints/new GET, POST',
      '/clients/:client_id/secret GET, POST',
      '/clients/:client_id/secret/shown GET',
      '/clients/new GET, POST',
      '/endpoints/:id/delete GET, POST',
      '/endpoints/:id/disable POST',
      '/endpoints/:id/edit GET, POST',
      '/endpoints/:id/enable POST',
      '/endpoints/:id/secret GET',
      '/event-types/:type/edit GET, POST',
      '/event-types/:type/versions/:version GET, POST',
      '/event-types/new GET, POST',
      '/redirect-uris/:id/approve POST',
      '/redirect-uris/:id/reject POST',
      '/scopes/:name/edit GET, POST',
      '/scopes/new GET, POST',
      '/users/:id/erase GET, POST',
      '/users/:id/identities/:provider/remove GET, POST',
      '/users/:id/make-operator GET, POST',
      '/users/:id/members/:user_id/remove GET, POST',
      '/users/:id/members/new GET, POST',
      '/users/:id/remove-operator GET, POST',
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
