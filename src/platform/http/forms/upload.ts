import { Busboy, type BusboyInstance } from '@fastify/busboy';
import type { FastifyInstance, FastifyReply, FastifyRequest, preParsingHookHandler } from 'fastify';
import { badRequest, serviceUnavailable } from '../problems/problem.js';
import { BODY_LIMIT_BYTES, UPLOAD_LIMIT_BYTES } from '../server/body-limit.js';
import { Form } from './form.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The files of a form in parts, by field, on routes with `takesUpload`. */
    files: ReadonlyMap<string, Buffer>;
  }
}

/** A form in parts: its fields as any other form, and its files. */
export interface FormInParts {
  form: Form;
  files: ReadonlyMap<string, Buffer>;
}

const NONE: ReadonlyMap<string, Buffer> = new Map();

/** The most concurrent uploads of one instance, because each is kept in memory until it is answered. */
const AT_ONCE = 4;

const LIMITS = {
  files: 1,
  fields: 16,
  parts: 17,
  fieldNameSize: 100,
  fieldSize: BODY_LIMIT_BYTES,
  headerPairs: 20,
};

/**
 * Gives upload routes their body limit, and limits concurrent uploads. `admits`: whether someone may upload at all; otherwise it has
 * answered. It is asked before, so that strangers do not keep those who may from uploading.
 */
export function addUploadLimits(
  fastify: FastifyInstance,
  admits: (request: FastifyRequest, reply: FastifyReply) => Promise<boolean>,
): void {
  let underWay = 0;
  fastify.decorateRequest('files', { getter: () => NONE });
  const limit: preParsingHookHandler = (request, reply, payload, done) => {
    admits(request, reply).then((isAdmitted) => {
      // Answered, or the browser has disconnected by now.
      if (!isAdmitted || reply.raw.destroyed) return;
      if (underWay >= AT_ONCE) {
        return done(
          serviceUnavailable('Several files are being uploaded at the moment. Please try again shortly.', {
            headers: { 'retry-after': '2' },
          }),
        );
      }
      underWay++;
      reply.raw.once('close', () => underWay--);
      done(null, payload);
    }, done);
  };
  // Only on upload routes, because a hook on all routes would cost every request.
  fastify.addHook('onRoute', (route) => {
    if (!route.config?.takesUpload) return;
    route.bodyLimit = UPLOAD_LIMIT_BYTES;
    route.preParsing = [limit, route.preParsing ?? []].flat() as preParsingHookHandler[];
  });
}

/** Reads a multipart/form-data body (RFC 7578). Throws a 400 problem for one that is malformed or has too many parts. */
export function formInParts(contentType: string, body: Buffer): Promise<FormInParts> {
  return new Promise((resolve, reject) => {
    const refuse = () =>
      reject(badRequest('The form could not be read: its parts are malformed or too many.'));
    const fields: [string, string][] = [];
    const files = new Map<string, Buffer>();
    let parser: BusboyInstance;
    try {
      parser = new Busboy({ headers: { 'content-type': contentType }, limits: LIMITS });
    } catch {
      return refuse();
    }
    parser.on('field', (name, value, nameIsCut, valueIsCut) => {
      if (nameIsCut || valueIsCut) refuse();
      fields.push([name, value]);
    });
    parser.on('file', (name, stream) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('error', refuse);
      stream.on('end', () => files.set(name, Buffer.concat(chunks)));
    });
    for (const event of ['partsLimit', 'filesLimit', 'fieldsLimit', 'error'] as const) {
      parser.on(event, refuse);
    }
    parser.on('finish', () => {
      try {
        resolve({ form: Form.parse(new URLSearchParams(fields).toString()), files });
      } catch (error) {
        reject(error as Error);
      }
    });
    parser.end(body);
  });
}
