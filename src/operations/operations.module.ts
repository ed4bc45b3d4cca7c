import { Module } from '@nestjs/common';
import { TerminusModule } from '@nestjs/terminus';
import { GaugesService } from './gauges.service.js';
import { MetricsController } from './metrics.controller.js';
import { HealthController } from './health.controller.js';

@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController, MetricsController],
  providers: [GaugesService],
})
export class OperationsModule {}
