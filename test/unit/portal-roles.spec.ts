import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, MODULE_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';
import { PORTAL_ROUTES } from '../../src/webhook-portal/portal-routes.js';
import { WebhookPortalModule } from '../../src/webhook-portal/webhook-portal.module.js';

type Handler = (...args: unknown[]) => unknown;

const ROOT = '/portal';
/** Those before and outside of a session of the portal. */
const OPEN = [
  'GET /portal/login/:key',
  'POST /portal/login/:key',
  'POST /portal/logout',
  'GET /portal/sign-in',
  'POST /portal/sign-in/:client_id',
  'GET /webhook_portal',
];

const ROUTES = PORTAL_ROUTES.all().map(({ method, path, least }) => [`${method} ${path}`, least] as const);
const withRole = (role: string): string[] =>
  ROUTES.filter(([, least]) => least === role)
    .map(([route]) => route.replace(ROOT, ''))
    .sort();

/** Every route of the portal's controllers, as the framework sees it. */
function declared(): string[] {
  const controllers = Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, WebhookPortalModule) as {
    prototype: object;
  }[];
  return controllers.flatMap((controller) => {
    const base = Reflect.getMetadata(PATH_METADATA, controller) as string;
    return Object.getOwnPropertyNames(controller.prototype)
      .filter((name) => name !== 'constructor')
      .map((name) => (controller.prototype as Record<string, Handler>)[name]!)
      .filter((handler) => Reflect.hasMetadata(PATH_METADATA, handler))
      .map((handler) => {
        const method = Reflect.getMetadata(METHOD_METADATA, handler) === RequestMethod.POST ? 'POST' : 'GET';
        const path = `/${base}/${Reflect.getMetadata(PATH_METADATA, handler) as string}`;
        return `${method} ${path.replaceAll(/\/+/g, '/').replace(/\/$/, '')}`;
      });
  });
}

/** Who may use which route of the portal: a change here is a change of what a member may do (contract §20). */
describe('The least role of the routes of the portal', () => {
  it('is known for every route', () => {
    expect([...ROUTES.map(([route]) => route), ...OPEN].sort()).toEqual(declared().sort());
  });

  it('is viewer for pages that only show something, and for checking a signature', () => {
    expect(withRole('viewer')).toEqual([
      'GET ',
      'GET /contacts',
      'GET /credentials',
      'GET /credentials/secret',
      'GET /deliveries',
      'GET /deliveries/:id',
      'GET /endpoints/:id',
      'GET /endpoints/:id/headers',
      'GET /endpoints/:id/secret',
      'GET /event_types',
      'GET /members',
      'GET /recoveries/:id',
      'GET /redirect-uris',
      'GET /refusals',
      'GET /requests',
      'GET /sandbox',
      'GET /usage',
      'GET /verify',
      'POST /verify',
    ]);
  });

  it('is developer for endpoints, their secrets, tests, resends, contacts and the sandbox', () => {
    expect(withRole('developer')).toEqual([
      'GET /deliveries/matching',
      'GET /endpoints/:id/delete',
      'GET /endpoints/:id/edit',
      'GET /endpoints/:id/recover',
      'GET /endpoints/:id/rotate',
      'GET /endpoints/:id/test',
      'GET /endpoints/new',
      'POST /contacts',
      'POST /contacts/:id',
      'POST /deliveries/:id/resend',
      'POST /deliveries/matching',
      'POST /deliveries/selected',
      'POST /endpoints/:id/delete',
      'POST /endpoints/:id/disable',
      'POST /endpoints/:id/edit',
      'POST /endpoints/:id/enable',
      'POST /endpoints/:id/headers',
      'POST /endpoints/:id/missed',
      'POST /endpoints/:id/recover',
      'POST /endpoints/:id/rotate',
      'POST /endpoints/:id/secret',
      'POST /endpoints/:id/test',
      'POST /endpoints/new',
      'POST /sandbox/drivers',
      'POST /sandbox/drivers/:id/consent',
      'POST /sandbox/drivers/:id/delete',
      'POST /sandbox/drivers/:id/events',
      'POST /sandbox/drivers/:id/past_days',
      'POST /sandbox/drivers/:id/sessions',
      'POST /sandbox/fail_refresh',
      'POST /sandbox/fail_requests',
    ]);
  });

  it('is admin for credentials, redirect URIs and members, and for a route that says nothing', () => {
    expect(withRole('admin')).toEqual([
      'GET /members/:user_id',
      'GET /members/:user_id/remove',
      'POST /credentials/end',
      'POST /credentials/rotate',
      'POST /members',
      'POST /members/:user_id',
      'POST /members/:user_id/remove',
      'POST /members/withdraw/:id',
      'POST /redirect-uris',
      'POST /redirect-uris/remove',
    ]);
    expect(PORTAL_ROUTES.mayUse('developer', 'GET', '/portal/nothing/here')).toBe(false);
    expect(PORTAL_ROUTES.mayUse('admin', 'GET', '/portal/nothing/here')).toBe(true);
  });
});
