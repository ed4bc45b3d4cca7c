import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ClientEntity } from './client.entity.js';
import { ClientSecretEntity } from './client-secret.entity.js';
import { ClientAuthenticationService } from './client-authentication.service.js';
import { ClientsRepository } from './clients.repository.js';
import { KnownClients } from './known-clients.service.js';
import { ClientsService } from './clients.service.js';

/** OAuth clients, their secrets, and client authentication. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([ClientEntity, ClientSecretEntity])],
  providers: [ClientAuthenticationService, ClientsRepository, ClientsService, KnownClients],
  exports: [ClientAuthenticationService, ClientsService, KnownClients],
})
export class ClientsModule {}
