import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import type Provider from 'oidc-provider';
import { sendPage } from '#platform/http/page-routes/send-page.js';
import { renderPage } from '#platform/web/layout/layout.js';
import { IDENTITY_PATH, type DemoPerson } from './demo-identity-provider.js';
import { choosePersonPage } from '../pages/identity-provider.pages.js';

const INTERACTION = `${IDENTITY_PATH}/interaction/:uid`;
/** What pages and programs of OpenID Connect post. */
const FORM = { takesForm: true };

/**
 * Mounts the identity provider of the demonstration, which reads requests and writes answers itself. Its page to choose a person is
 * bound to the browser by the provider's own cookie.
 */
export function addDemoIdentity(fastify: FastifyInstance, provider: Provider, people: DemoPerson[]): void {
  const serve = provider.callback();
  void fastify.register((scope, _options, done) => {
    // Bodies are left to the provider.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, body, parsed) => parsed(null, body));
    scope.get(INTERACTION, async (request, reply) => {
      await provider.interactionDetails(request.raw, reply.raw);
      const page = choosePersonPage(request.url.split('?', 1)[0]!, people);
      sendPage(reply, renderPage(page, reply.server.brand));
      return reply;
    });
    scope.post(INTERACTION, { config: FORM }, async (request, reply) => {
      const id = new URLSearchParams(await textOf(request.raw)).get('person');
      const person = people.find((each) => each.id === id);
      reply.hijack();
      const cancelled = { error: 'access_denied', error_description: 'The person cancelled.' };
      const result = person ? { login: { accountId: person.id } } : cancelled;
      await provider.interactionFinished(request.raw, reply.raw, result);
    });
    scope.route({
      method: ['GET', 'POST'],
      url: `${IDENTITY_PATH}/*`,
      config: FORM,
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        reply.hijack();
        const raw = request.raw as IncomingMessage & { originalUrl?: string };
        // As mounted applications expect it: the provider finds its path in the difference.
        raw.originalUrl = raw.url!;
        raw.url = raw.url!.slice(IDENTITY_PATH.length);
        await serve(raw, reply.raw);
      },
    });
    done();
  });
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request) text += String(part);
  return text;
}
