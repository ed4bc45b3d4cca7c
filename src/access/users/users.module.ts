import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityModule } from '#records/activity/activity.module.js';
import { AuditModule } from '#records/audit/audit.module.js';
import { BrandModule } from '#records/brand/brand.module.js';
import { HttpModule } from '#platform/http/http.module.js';
import { MailModule } from '#records/mail/mail.module.js';
import { NotificationsModule } from '#records/notifications/notifications.module.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { UserEntity } from './accounts/user.entity.js';
import { SessionEntity } from './sessions/session.entity.js';
import { PasswordLinkEntity } from './passwords/password-link.entity.js';
import { FollowedProfilesService } from './accounts/followed-profiles.service.js';
import { OperatorProtectionService } from './accounts/operator-protection.service.js';
import { RoleChanges } from './accounts/role-changes.service.js';
import { SignInWaysService } from './accounts/sign-in-ways.service.js';
import { LinkedAccountsService } from './accounts/linked-accounts.service.js';
import { EmailLinksRepository, EmailLinkEntity } from './emails/email-links.repository.js';
import { EmailVerificationService } from './emails/email-verification.service.js';
import { UnsubscribingService } from './emails/unsubscribing.service.js';
import { MailedSignInsService } from './emails/mailed-sign-ins.service.js';
import { PasskeySignUpsService } from './emails/passkey-sign-ups.service.js';
import { SealedReturns } from './emails/sealed-returns.service.js';
import { SignUpService } from './emails/sign-up.service.js';
import { KnownBrowsersService } from './sessions/known-browsers.service.js';
import { PasswordChangeService } from './passwords/password-change.service.js';
import { PasswordLinksRepository } from './passwords/password-links.repository.js';
import { PasswordLinksService } from './passwords/password-links.service.js';
import { ActorsService } from './sessions/actors.service.js';
import { SessionsRepository } from './sessions/sessions.repository.js';
import { SessionsService } from './sessions/sessions.service.js';
import { SignedInUsers } from './sessions/signed-in-users.service.js';
import {
  AuthenticatorAppsRepository,
  AuthenticatorAppEntity,
} from './factors/authenticator-apps.repository.js';
import { AuthenticatorAppsService } from './factors/authenticator-apps.service.js';
import { PasskeyEntity } from './factors/passkey.entity.js';
import { PasskeyRegistrations } from './factors/passkey-registrations.service.js';
import { PasskeySignInsService } from './factors/passkey-sign-ins.service.js';
import { PasskeysRepository } from './factors/passkeys.repository.js';
import { PasskeysService } from './factors/passkeys.service.js';
import { PendingSignInsService } from './factors/pending-sign-ins.service.js';
import { PendingSignInsRepository, PendingSignInEntity } from './factors/pending-sign-ins.repository.js';
import { RecoveryCodesRepository, RecoveryCodeEntity } from './factors/recovery-codes.repository.js';
import { RecoveryCodesService } from './factors/recovery-codes.service.js';
import { SecondFactorService } from './factors/second-factor.service.js';
import { WebauthnChallenges } from './factors/webauthn-challenges.service.js';
import {
  WebauthnChallengesRepository,
  WebauthnChallengeEntity,
} from './factors/webauthn-challenges.repository.js';
import { ShownOnce } from './sessions/shown-once.service.js';
import { PersonalData } from './accounts/personal-data.js';
import { UsersRepository } from './accounts/users.repository.js';
import { UsersService } from './accounts/users.service.js';
import { AccountDeletionEntity } from './closing/account-deletion.entity.js';
import { AccountDeletionsRepository } from './closing/account-deletions.repository.js';
import { AccountDeletionsService, AccountDeletionsWorker } from './closing/account-deletions.service.js';
import { DataExportsRepository, DataExportEntity } from './closing/data-exports.repository.js';
import { DataExportsService } from './closing/data-exports.service.js';
import { UsersPersonalData } from './closing/users-personal-data.service.js';
import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

const EXPORTED = [
  AccountDeletionsService,
  ActorsService,
  AuthenticatorAppsService,
  DataExportsService,
  EmailVerificationService,
  FollowedProfilesService,
  KnownBrowsersService,
  LinkedAccountsService,
  MailedSignInsService,
  OperatorProtectionService,
  PasskeySignInsService,
  PasskeySignUpsService,
  PasskeysService,
  PasswordChangeService,
  PasswordLinksService,
  PendingSignInsService,
  SecondFactorService,
  SessionsService,
  ShownOnce,
  SignUpService,
  SignedInUsers,
  UnsubscribingService,
  UsersService,
];

/** Accounts, passwords, second factors and login sessions. */
@Module({
  imports: [
    HttpModule,
    AuditModule,
    BrandModule,
    NotificationsModule,
    ActivityModule,
    MailModule,
    TypeOrmModule.forFeature([UserEntity, SessionEntity, PasswordLinkEntity, EmailLinkEntity]),
    TypeOrmModule.forFeature([AuthenticatorAppEntity, PasskeyEntity, PendingSignInEntity]),
    TypeOrmModule.forFeature([RecoveryCodeEntity, WebauthnChallengeEntity]),
    TypeOrmModule.forFeature([AccountDeletionEntity, DataExportEntity]),
  ],
  providers: [
    ...EXPORTED,
    AccountDeletionsRepository,
    AccountDeletionsWorker,
    AuthenticatorAppsRepository,
    DataExportsRepository,
    EmailLinksRepository,
    PasskeyRegistrations,
    PasskeysRepository,
    PasswordLinksRepository,
    PendingSignInsRepository,
    PersonalData,
    RecoveryCodesRepository,
    RecoveryCodesService,
    RoleChanges,
    SealedReturns,
    SessionsRepository,
    SignInWaysService,
    UsersPersonalData,
    UsersRepository,
    WebauthnChallenges,
    WebauthnChallengesRepository,
  ],
  exports: EXPORTED,
})
export class UsersModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [
      'sessions',
      'password_links',
      'webauthn_challenges',
      'pending_sign_ins',
      'email_links',
      'data_exports',
    ].map((table) => ({ table, by: 'expires_at' }));
  }
}
