import type { FastifyInstance } from 'fastify';
import { Form } from './form.js';
import { badRequest } from './problem.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads JSON and forms; a body of another media type is a 415. */
export function addBodyParsers(fastify: FastifyInstance): void {
  fastify.removeContentTypeParser(['text/plain', 'application/json']);
  const parseJson = fastify.getDefaultJsonParser('error', 'error');
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const text = textOf(body as Buffer);
      // Some HTTP clients name the media type on every request, with a body or without.
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
}

/** The body as text; throws a 400 problem for bytes that are not UTF-8, which a lenient decoder would replace. */
function textOf(body: Buffer): string {
  try {
    return UTF8.decode(body);
  } catch {
    throw badRequest('The body is not valid UTF-8.');
  }
}
