import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityModule } from '../activity/activity.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { HttpModule } from '../http/http.module.js';
import { MailModule } from '../mail/mail.module.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { UserEntity } from './accounts/user.entity.js';
import { SessionEntity } from './sessions/session.entity.js';
import { PasswordLinkEntity } from './passwords/password-link.entity.js';
import { AccessRevocations } from './accounts/access-revocations.js';
import { EmailLinkEntity } from './emails/email-link.entity.js';
import { EmailLinksRepository } from './emails/email-links.repository.js';
import { EmailVerificationService } from './emails/email-verification.service.js';
import { SignUpService } from './emails/sign-up.service.js';
import { KnownBrowsersService } from './sessions/known-browsers.service.js';
import { PasswordChangeService } from './passwords/password-change.service.js';
import { PasswordLinksController } from './passwords/password-links.controller.js';
import { PasswordLinksRepository } from './passwords/password-links.repository.js';
import { PasswordLinksService } from './passwords/password-links.service.js';
import { SessionsRepository } from './sessions/sessions.repository.js';
import { SessionsService } from './sessions/sessions.service.js';
import { SignedInUsers } from './sessions/signed-in-users.service.js';
import { UserErasures } from './accounts/user-erasures.js';
import { UsersRepository } from './accounts/users.repository.js';
import { UsersService } from './accounts/users.service.js';

/** Accounts, passwords and login sessions. */
@Module({
  imports: [
    HttpModule,
    AuditModule,
    NotificationsModule,
    ActivityModule,
    MailModule,
    TypeOrmModule.forFeature([UserEntity, SessionEntity, PasswordLinkEntity, EmailLinkEntity]),
  ],
  controllers: [PasswordLinksController],
  providers: [
    AccessRevocations,
    EmailLinksRepository,
    EmailVerificationService,
    KnownBrowsersService,
    PasswordChangeService,
    PasswordLinksRepository,
    PasswordLinksService,
    SessionsRepository,
    SessionsService,
    SignedInUsers,
    SignUpService,
    UserErasures,
    UsersRepository,
    UsersService,
  ],
  exports: [
    AccessRevocations,
    EmailVerificationService,
    KnownBrowsersService,
    PasswordChangeService,
    PasswordLinksService,
    SessionsService,
    SignedInUsers,
    SignUpService,
    UserErasures,
    UsersService,
  ],
})
export class UsersModule {}
