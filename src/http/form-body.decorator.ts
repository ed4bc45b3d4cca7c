import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Form } from './form.js';
import { unsupportedMediaType } from './problem.js';

/** The posted form of a page route; throws a 415 problem for other media types. */
export const FormBody = createParamDecorator((_data: unknown, context: ExecutionContext): Form => {
  const { body } = context.switchToHttp().getRequest<FastifyRequest>();
  if (body instanceof Form) return body;
  if (body === undefined || body === null) return Form.parse('');
  throw unsupportedMediaType('This endpoint only accepts application/x-www-form-urlencoded.');
});
