import { Module } from '@nestjs/common';
import { ClientsModule } from '#access/clients/clients.module.js';
import { IdentityProvidersModule } from '#access/identity-providers/identity-providers.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { ActionServices } from './admin-actions.js';
import { AdminActions } from './admin-actions.service.js';

/** What admins do that may need a second one (contract §17), for the admin API and the console. */
@Module({
  imports: [ClientsModule, UsersModule, IdentityProvidersModule],
  providers: [ActionServices, AdminActions],
  exports: [ActionServices, AdminActions],
})
export class AdminActionsModule {}
