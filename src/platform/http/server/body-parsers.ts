import { say } from '#platform/language/text.js';
import type { FastifyInstance } from 'fastify';
import { Form } from '../forms/form.js';
import { formInParts } from '../forms/upload.js';
import { oneClickInParts } from '../forms/one-click.js';
import { badRequest } from '../problems/problem.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The text of a JSON body, on routes with `keepsBodyText`. */
    bodyText: string | undefined;
  }
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses JSON and forms, and forms in parts where mail programs post them or a file is uploaded; other media types get a 415. What a route
 * does not take is refused before (unread-bodies.ts).
 */
export function addBodyParsers(fastify: FastifyInstance): void {
  fastify.removeContentTypeParser(['text/plain', 'application/json']);
  fastify.decorateRequest('bodyText', undefined);
  const parseJson = fastify.getDefaultJsonParser('error', 'error');
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const text = textOf(body as Buffer);
      if (request.routeOptions.config?.keepsBodyText) request.bodyText = text;
      // Some HTTP clients send a media type with every request, even without a body.
      if (text === '') done(null, undefined);
      else void parseJson(request, text, done);
    } catch (error) {
      done(error as Error);
    }
  });
  fastify.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'buffer' },
    (_request, body, done) => {
      try {
        done(null, Form.parse(textOf(body as Buffer)));
      } catch (error) {
        done(error as Error);
      }
    },
  );
  fastify.addContentTypeParser('multipart/form-data', { parseAs: 'buffer' }, (request, body, done) => {
    if (request.routeOptions.config?.takesUpload) {
      formInParts(request.headers['content-type']!, body as Buffer).then(({ form, files }) => {
        Object.defineProperty(request, 'files', { value: files });
        done(null, form);
      }, done);
      return;
    }
    try {
      done(null, oneClickInParts(textOf(body as Buffer)));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** The body as text. Throws a 400 problem for invalid UTF-8, which a lenient decoder would replace. */
function textOf(body: Buffer): string {
  try {
    return UTF8.decode(body);
  } catch {
    throw badRequest(say('The body is not valid UTF-8.'));
  }
}
