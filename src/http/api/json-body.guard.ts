import { say } from '../../language/text.js';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Form } from '../forms/form.js';
import { unsupportedMediaType } from '../problems/problem.js';

/** Refuses requests whose body is not JSON. */
@Injectable()
export class JsonBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { body } = context.switchToHttp().getRequest<FastifyRequest>();
    if (body instanceof Form) throw unsupportedMediaType(say('This endpoint only accepts application/json.'));
    return true;
  }
}
