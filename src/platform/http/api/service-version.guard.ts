import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { unsupportedVersion } from '../problems/problem.js';

/** The only version of the partners' bearer endpoints (source specification §9). */
export const SERVICE_VERSION = 2;

/**
 * Contract §6: `Service-Version` must be omitted or a number equal to 2; anything else is a 400 problem. Runs after
 * authentication.
 */
@Injectable()
export class ServiceVersionGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const version = context.switchToHttp().getRequest<FastifyRequest>().headers['service-version'];
    if (version === undefined) return true;
    if (
      typeof version === 'string' &&
      /^\d{1,9}(\.\d{1,9})?$/.test(version) &&
      Number(version) === SERVICE_VERSION
    ) {
      return true;
    }
    throw unsupportedVersion(
      `This endpoint only supports version ${SERVICE_VERSION}; the Service-Version header asks for another.`,
    );
  }
}
