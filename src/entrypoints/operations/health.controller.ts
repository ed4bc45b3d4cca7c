import { Controller, Get, ServiceUnavailableException } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { HealthCheck, HealthCheckService, type HealthCheckResult } from '@nestjs/terminus';
import { serviceUnavailable, type Problem } from '#platform/http/problems/problem.js';
import { ReadinessService } from './readiness.service.js';

const RETRY_AFTER_SECONDS = '2';

/** Health checks for load balancers (contract §14). */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly readiness: ReadinessService,
  ) {}

  /** 200 while the process runs. */
  @Get('live')
  @RouteConfig({ servesAnySchema: true, isInternal: true })
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /**
   * 200 when requests can be served. Otherwise a 503 problem whose detail says why: the database is unreachable, a standby,
   * behind a pooler in transaction mode, lacks migrations or requires a newer build, or the process is shutting down.
   */
  @Get('ready')
  @HealthCheck()
  @RouteConfig({ tellsReadiness: true, servesAnySchema: true, isInternal: true })
  async ready(): Promise<HealthCheckResult> {
    try {
      return await this.health.check([
        () => this.readiness.process(),
        () => this.readiness.reachable(),
        () => this.readiness.announcements(),
        () => this.readiness.migrations(),
        () => this.readiness.compatible(),
      ]);
    } catch (error) {
      if (error instanceof ServiceUnavailableException)
        throw notReady(error.getResponse() as HealthCheckResult);
      throw error;
    }
  }
}

/** Reports our own reasons, or else the name of the check: error messages of the driver stay internal. */
function notReady({ error = {} }: HealthCheckResult): Problem {
  const reasons = Object.entries(error).map(([name, check]) =>
    typeof check?.reason === 'string' ? check.reason : name,
  );
  return serviceUnavailable(`The service is not ready: ${reasons.join('; ')}.`, {
    headers: { 'retry-after': RETRY_AFTER_SECONDS },
  });
}
