import type { FastifyInstance } from 'fastify';
import helmet from 'helmet';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** Puts helmet's headers on every answer. They are the same for all, so helmet is asked once; pages replace the policy with their own. */
export function addSecurityHeaders(fastify: FastifyInstance, { secure }: { secure: boolean }): void {
  const headers = headersOf({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"], baseUri: ["'none'"] },
    },
    // A partner's page may open the authorization page in a window of its own and wait for it.
    crossOriginOpenerPolicy: false,
    frameguard: { action: 'deny' },
    // With no-referrer browsers send "Origin: null" with forms.
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: secure,
  });
  fastify.addHook('onRequest', (_request, reply, done) => {
    void reply.headers(headers);
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
