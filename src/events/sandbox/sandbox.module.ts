import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '#records/audit/audit.module.js';
import { ClientsModule } from '#access/clients/clients.module.js';
import { ConsentsModule } from '#access/consents/consents.module.js';
import { ScopesModule } from '#access/scopes/scopes.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { WebhooksModule } from '#events/webhooks/webhooks.module.js';
import { DriversRepository, DriverEntity } from './drivers.repository.js';
import { DriversService } from './drivers.service.js';
import { PlannedEventsWorker, SandboxClock } from './planned-events.worker.js';
import { PlansRepository, PlannedEventEntity } from './plans.repository.js';
import { PlansService } from './plans.service.js';

/** Partners' sandboxes (contract §19): their drivers, and the events that are made for these. */
@Module({
  imports: [
    AuditModule,
    ClientsModule,
    ConsentsModule,
    ScopesModule,
    UsersModule,
    WebhooksModule,
    TypeOrmModule.forFeature([DriverEntity, PlannedEventEntity]),
  ],
  providers: [
    DriversRepository,
    DriversService,
    PlannedEventsWorker,
    PlansRepository,
    PlansService,
    SandboxClock,
  ],
  exports: [DriversService, PlansService],
})
export class SandboxModule {}
