import { Global, Module } from '@nestjs/common';
import { AccessEndings } from './access-endings.js';
import { PasswordChangeService } from './password-change.service.js';
import { PasswordLinksController } from './password-links.controller.js';
import { PasswordLinksService } from './password-links.service.js';
import { SessionsRepository } from './sessions.repository.js';
import { SessionsService } from './sessions.service.js';
import { UsersRepository } from './users.repository.js';
import { UsersService } from './users.service.js';

/** Accounts, passwords and sign-in sessions. */
@Global()
@Module({
  controllers: [PasswordLinksController],
  providers: [
    AccessEndings,
    PasswordChangeService,
    PasswordLinksService,
    SessionsRepository,
    SessionsService,
    UsersRepository,
    UsersService,
  ],
  exports: [AccessEndings, PasswordChangeService, PasswordLinksService, SessionsService, UsersService],
})
export class UsersModule {}
