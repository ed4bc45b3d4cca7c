import { applyDecorators, UseGuards } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { JsonBodyGuard } from '../http/json-body.guard.js';
import { ServiceVersionGuard } from '../http/service-version.guard.js';
import { LimitedBearerGuard } from './limited-bearer.guard.js';
import { PartnerRateLimitGuard } from './partner-rate-limit.guard.js';

/**
 * A bearer endpoint for partners: a live access token, the rate limit, then `Service-Version`, so that a request refused
 * for its version counts. Every answer carries the version.
 */
export const PartnerEndpoint = () =>
  applyDecorators(
    RouteConfig({ versioned: true }),
    UseGuards(LimitedBearerGuard, PartnerRateLimitGuard, ServiceVersionGuard, JsonBodyGuard),
  );
