import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '../audit/audit.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { ScopesModule } from '../scopes/scopes.module.js';
import { UsersModule } from '../users/users.module.js';
import { ConsentEntity } from './consent.entity.js';
import { ConsentEvents } from './consent-events.js';
import { ConsentsPersonalData } from './consents-personal-data.service.js';
import { ConsentsRepository } from './consents.repository.js';
import { ConsentsService } from './consents.service.js';

/** Which user consented to what for which client. */
@Module({
  imports: [
    ClientsModule,
    ScopesModule,
    AuditModule,
    UsersModule,
    NotificationsModule,
    TypeOrmModule.forFeature([ConsentEntity]),
  ],
  providers: [ConsentEvents, ConsentsPersonalData, ConsentsRepository, ConsentsService],
  exports: [ConsentEvents, ConsentsService],
})
export class ConsentsModule {}
