import { say } from '#platform/language/text.js';
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Settings } from '#platform/config/settings.js';
import { forbidden } from '../problems/problem.js';

/** Refuses requests that a browser sends from another site's page. */
@Injectable()
export class OwnPagesGuard implements CanActivate {
  constructor(private readonly settings: Settings) {}

  canActivate(context: ExecutionContext): boolean {
    const { origin } = context.switchToHttp().getRequest<FastifyRequest>().headers;
    if (origin !== undefined && origin !== this.settings.baseUrl) {
      throw forbidden(say('This request did not come from a page of this service.'));
    }
    return true;
  }
}
