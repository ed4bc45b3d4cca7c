import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Form } from './form.js';
import { formOf } from '../page-routes/posted-form.js';

/** The posted form of a page route. */
export const FormBody = createParamDecorator((_data: unknown, context: ExecutionContext): Form =>
  formOf(context.switchToHttp().getRequest<FastifyRequest>()),
);
