import { Module } from '@nestjs/common';
import { PartnerUsersController } from './partner-users.controller.js';

/** What partners may read of users: apart from the accounts, which no partner may reach. */
@Module({ controllers: [PartnerUsersController] })
export class UsersApiModule {}
