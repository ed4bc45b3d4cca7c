import { applyDecorators, UseGuards, type Type } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiHeader, ApiSecurity } from '@nestjs/swagger';
import { ApiAnswer, ApiPage, ApiProblems, type ApiHeaders } from '#platform/http/api/api-answers.js';
import { oneOf, whole } from '#platform/http/api/api-schemas.js';
import { ServiceVersionGuard } from '#platform/http/api/service-version.guard.js';
import { KnownPartnerLimitGuard } from './known-partner-limit.guard.js';
import { LimitedBearerGuard } from './limited-bearer.guard.js';
import { PartnerRateLimitGuard } from './partner-rate-limit.guard.js';
import { NeverFails, SandboxFaultGuard } from './sandbox-fault.guard.js';
import { AllowReadOverLimit, type ReadOverLimit } from './partners-over-limit.service.js';

/** Headers of the bearer endpoints for partners (contract §6, §7). */
const PARTNER_HEADERS: ApiHeaders = {
  'X-RateLimit-Limit': { required: true, description: 'Requests per hour.', schema: whole() },
  'X-RateLimit-Remaining': { required: true, schema: whole() },
  'Service-Version': { required: true, schema: oneOf('2') },
};

/** A JSON response of an endpoint for partners. */
export const PartnerAnswer = (description: string, type: Type, more: ApiHeaders = {}, status = 200) =>
  ApiAnswer(status, description, type, { ...PARTNER_HEADERS, ...more });

/** A page of a list for partners. */
export const PartnerPage = (item: Type) => ApiPage(item, PARTNER_HEADERS);

/**
 * A bearer endpoint for partners: a valid access token, the rate limit, then `Service-Version`, so that a request with a wrong
 * version counts. Every response carries the version. `readOverLimit`: whether a request is answered even though the limit is
 * exceeded. `neverFails`: exempt from sandbox faults.
 */
export const PartnerEndpoint = ({
  readOverLimit = () => false,
  neverFails = false,
}: { readOverLimit?: ReadOverLimit; neverFails?: boolean } = {}) =>
  applyDecorators(
    RouteConfig({ versioned: true }),
    AllowReadOverLimit(readOverLimit),
    NeverFails(neverFails),
    UseGuards(
      KnownPartnerLimitGuard,
      LimitedBearerGuard,
      SandboxFaultGuard,
      PartnerRateLimitGuard,
      ServiceVersionGuard,
    ),
    ApiSecurity('oauth2'),
    ApiHeader({
      name: 'Service-Version',
      description: 'Omitted, or 2.',
      schema: { type: 'number', enum: [2] },
    }),
    ApiProblems(400, 401, 403, 429, 500, 503),
  );
