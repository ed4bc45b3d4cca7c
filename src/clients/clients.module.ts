import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityModule } from '../activity/activity.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { ScopesModule } from '../scopes/scopes.module.js';
import { UsersModule } from '../users/users.module.js';
import { ClientEntity } from './client.entity.js';
import { ClientSecretEntity } from './client-secret.entity.js';
import { ClientAuthenticationService } from './client-authentication.service.js';
import { ClientsRepository } from './clients.repository.js';
import { KnownClients } from './known-clients.service.js';
import { ClientsService } from './clients.service.js';

/** OAuth clients, their secrets, and client authentication. */
@Module({
  imports: [
    ActivityModule,
    ScopesModule,
    AuditModule,
    UsersModule,
    TypeOrmModule.forFeature([ClientEntity, ClientSecretEntity]),
  ],
  providers: [ClientAuthenticationService, ClientsRepository, ClientsService, KnownClients],
  exports: [ClientAuthenticationService, ClientsService, KnownClients],
})
export class ClientsModule {}
