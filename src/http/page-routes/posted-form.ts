import { say } from '../../language/text.js';
import type { FastifyRequest } from 'fastify';
import { Form } from '../forms/form.js';
import { unsupportedMediaType } from '../problems/problem.js';
import { refuseUnsafeText } from '../validation/validation.pipe.js';

/** The posted form; a missing body is an empty one. Throws a 415 problem for other media types. */
export function formOf({ body }: FastifyRequest): Form {
  if (body instanceof Form) return body;
  if (body === undefined || body === null) return Form.parse('');
  throw unsupportedMediaType(say('This endpoint only accepts application/x-www-form-urlencoded.'));
}

/** Throws a 400 problem for text in the path that cannot be stored, and a 415 problem for a body that is not a form. */
export function requireFormBody(request: FastifyRequest): void {
  refuseUnsafeText(request.params);
  formOf(request);
}

/** Whether the request is anything but a read, so that no method is forgotten. */
export const isPosted = ({ method }: FastifyRequest): boolean => method !== 'GET' && method !== 'HEAD';
