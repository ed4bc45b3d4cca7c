import { applyDecorators, UseGuards } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ServiceVersionGuard } from '../http/service-version.guard.js';
import { BearerGuard } from './bearer.guard.js';

/** A bearer endpoint for partners: a live access token, then `Service-Version`; every answer carries the version. */
export const PartnerEndpoint = () =>
  applyDecorators(RouteConfig({ versioned: true }), UseGuards(BearerGuard, ServiceVersionGuard));
