import { Global, Module } from '@nestjs/common';
import { ClientAuthenticationService } from './client-authentication.service.js';
import { ClientsRepository } from './clients.repository.js';
import { KnownClients } from './known-clients.service.js';
import { ClientsService } from './clients.service.js';

/** OAuth clients, their secrets, and client authentication. */
@Global()
@Module({
  providers: [ClientAuthenticationService, ClientsRepository, ClientsService, KnownClients],
  exports: [ClientAuthenticationService, ClientsService, KnownClients],
})
export class ClientsModule {}
