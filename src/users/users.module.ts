import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityModule } from '../activity/activity.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { HttpModule } from '../http/http.module.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { UserEntity } from './user.entity.js';
import { SessionEntity } from './session.entity.js';
import { PasswordLinkEntity } from './password-link.entity.js';
import { AccessRevocations } from './access-revocations.js';
import { KnownBrowsersService } from './known-browsers.service.js';
import { PasswordChangeService } from './password-change.service.js';
import { PasswordLinksController } from './password-links.controller.js';
import { PasswordLinksRepository } from './password-links.repository.js';
import { PasswordLinksService } from './password-links.service.js';
import { SessionsRepository } from './sessions.repository.js';
import { SessionsService } from './sessions.service.js';
import { SignedInUsers } from './signed-in-users.service.js';
import { UserErasures } from './user-erasures.js';
import { UsersRepository } from './users.repository.js';
import { UsersService } from './users.service.js';

/** Accounts, passwords and login sessions. */
@Module({
  imports: [
    HttpModule,
    AuditModule,
    NotificationsModule,
    ActivityModule,
    TypeOrmModule.forFeature([UserEntity, SessionEntity, PasswordLinkEntity]),
  ],
  controllers: [PasswordLinksController],
  providers: [
    AccessRevocations,
    KnownBrowsersService,
    PasswordChangeService,
    PasswordLinksRepository,
    PasswordLinksService,
    SessionsRepository,
    SessionsService,
    SignedInUsers,
    UserErasures,
    UsersRepository,
    UsersService,
  ],
  exports: [
    AccessRevocations,
    KnownBrowsersService,
    PasswordChangeService,
    PasswordLinksService,
    SessionsService,
    SignedInUsers,
    UserErasures,
    UsersService,
  ],
})
export class UsersModule {}
