import { Controller, Get, Req, Res } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { register } from 'prom-client';
import { GaugesService } from './gauges.service.js';
import { Settings } from '#platform/config/settings.js';
import { unauthorized } from '#platform/http/problems/problem.js';
import { RateLimitsService } from '#access/rate-limits/rate-limits.service.js';

/** Metrics for Prometheus (contract §14); with `METRICS_TOKEN`, only for its bearer. */
@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly settings: Settings,
    private readonly gauges: GaugesService,
    private readonly limits: RateLimitsService,
  ) {}

  @Get()
  @RouteConfig({ servesAnySchema: true, isInternal: true })
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { metricsToken } = this.settings;
    this.limits.refuseOverLimit(request);
    if (metricsToken === undefined) await this.limits.countAddress(request);
    else if (!sameText(request.headers.authorization ?? '', `Bearer ${metricsToken}`)) {
      throw unauthorized(
        'The metrics require the bearer token of the METRICS_TOKEN setting.',
        'Bearer realm="metrics"',
      );
    }
    await this.gauges.refresh();
    await reply.header('content-type', register.contentType).send(await register.metrics());
  }
}

/** Compares in constant time. */
const sameText = (a: string, b: string): boolean =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
