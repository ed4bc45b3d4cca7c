import { Controller, Get, Req, Res } from '@nestjs/common';
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { register } from 'prom-client';
import { GaugesService } from './gauges.service.js';
import { Settings } from '../config/settings.js';
import { unauthorized } from '../http/problem.js';

/** Metrics for Prometheus (contract §14); where `METRICS_TOKEN` is set, for its bearer alone. */
@Controller('metrics')
export class MetricsController {
  constructor(
    private readonly settings: Settings,
    private readonly gauges: GaugesService,
  ) {}

  @Get()
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const { metricsToken } = this.settings;
    if (
      metricsToken !== undefined &&
      !sameText(request.headers.authorization ?? '', `Bearer ${metricsToken}`)
    ) {
      throw unauthorized(
        'The metrics need the bearer token of the METRICS_TOKEN setting.',
        'Bearer realm="metrics"',
      );
    }
    await this.gauges.refresh();
    await reply.header('content-type', register.contentType).send(await register.metrics());
  }
}

/** Compares in a time that does not depend on where the texts differ. */
const sameText = (a: string, b: string): boolean =>
  timingSafeEqual(createHash('sha256').update(a).digest(), createHash('sha256').update(b).digest());
