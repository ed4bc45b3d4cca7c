import { Controller, Get } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import {
  HealthCheck,
  HealthCheckService,
  TypeOrmHealthIndicator,
  type HealthCheckResult,
} from '@nestjs/terminus';

// A load balancer asks again soon; a database that takes longer is not ready.
const PING_TIMEOUT_MS = 1500;

/** Health for the load balancer (contract §14). */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly database: TypeOrmHealthIndicator,
  ) {}

  /** 200 while the process runs. */
  @Get('live')
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** 200 when requests can be served; a 503 problem when the database cannot be reached or the process is shutting down. */
  @Get('ready')
  @HealthCheck()
  @RouteConfig({ tellsReadiness: true })
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.database.pingCheck('database', { timeout: PING_TIMEOUT_MS })]);
  }
}
