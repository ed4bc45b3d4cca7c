import { Controller, Get } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { ReadinessService } from './readiness.service.js';

/** Health for the load balancer (contract §14). */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly readiness: ReadinessService,
  ) {}

  /** 200 while the process runs. */
  @Get('live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** 200 when requests can be served; a 503 problem when the database cannot be reached or misses migrations, or the process is shutting down. */
  @Get('ready')
  @HealthCheck()
  @RouteConfig({ tellsReadiness: true })
  ready(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.readiness.process(),
      () => this.readiness.reachable(),
      () => this.readiness.migrations(),
    ]);
  }
}
