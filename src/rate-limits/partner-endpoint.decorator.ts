import { applyDecorators, UseGuards } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { JsonBodyGuard } from '../http/json-body.guard.js';
import { ServiceVersionGuard } from '../http/service-version.guard.js';
import { KnownPartnerLimitGuard } from './known-partner-limit.guard.js';
import { LimitedBearerGuard } from './limited-bearer.guard.js';
import { PartnerRateLimitGuard } from './partner-rate-limit.guard.js';
import { AllowReadOverLimit, type ReadOverLimit } from './partner-refusals.service.js';

/**
 * A bearer endpoint for partners: a valid access token, the rate limit, then `Service-Version`, so that a request with a wrong
 * version counts. Every response carries the version. `readOverLimit`: the requests that are answered although the limit is
 * exceeded.
 */
export const PartnerEndpoint = ({ readOverLimit = () => false }: { readOverLimit?: ReadOverLimit } = {}) =>
  applyDecorators(
    RouteConfig({ versioned: true }),
    AllowReadOverLimit(readOverLimit),
    UseGuards(
      KnownPartnerLimitGuard,
      LimitedBearerGuard,
      PartnerRateLimitGuard,
      ServiceVersionGuard,
      JsonBodyGuard,
    ),
  );
