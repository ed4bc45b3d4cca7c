import type { FastifyInstance } from 'fastify';
import helmet from 'helmet';
import type { IncomingMessage, ServerResponse } from 'node:http';

// Portal, password, email and sign-up links, invitations and links to one's own data, whose path is the secret, and the redirect
// URI of the demonstration, with its code. For these only the origin is sent as Referer. With no-referrer, browsers would send
// "Origin: null" with the forms.
const SECRET_PATH =
  /^\/(portal\/login\/|password\/|email\/(verify|unsubscribe)\/|sign-up\/|invitations\/|account\/export\/|demo\/callback)/;
const HIDE_PATH = { 'referrer-policy': 'strict-origin' };

/**
 * Adds helmet's headers to every response. They are always the same, so they are computed once; pages replace the policy with
 * their own.
 */
export function addSecurityHeaders(fastify: FastifyInstance, { secure }: { secure: boolean }): void {
  const headers = headersOf({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"], baseUri: ["'none'"] },
    },
    // A partner's page may open the authorization page in its own window and wait for it.
    crossOriginOpenerPolicy: false,
    frameguard: { action: 'deny' },
    // With no-referrer, browsers send "Origin: null" with forms.
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: secure,
  });
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.headers(headers);
    if (SECRET_PATH.test(request.routeOptions.url ?? request.url)) void reply.headers(HIDE_PATH);
    done();
  });
}

function headersOf(options: Parameters<typeof helmet>[0]): Record<string, string> {
  const headers: Record<string, string> = {};
  const response = {
    setHeader: (name: string, value: string) => (headers[name.toLowerCase()] = value),
    removeHeader: () => undefined,
  };
  helmet(options)({} as IncomingMessage, response as unknown as ServerResponse, (error?: unknown) => {
    if (error) throw error as Error;
  });
  return headers;
}
