import { Module } from '@nestjs/common';
import { ConsentsModule } from '#access/consents/consents.module.js';
import { DisclosuresModule } from '#events/disclosures/disclosures.module.js';
import { HttpModule } from '#platform/http/http.module.js';
import { IdentityProvidersModule } from '#access/identity-providers/identity-providers.module.js';
import { NotificationsModule } from '#records/notifications/notifications.module.js';
import { ClientsModule } from '#access/clients/clients.module.js';
import { PartnersModule } from '#events/partners/partners.module.js';
import { TokensModule } from '#access/tokens/tokens.module.js';
import { ScopesModule } from '#access/scopes/scopes.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { WebhooksModule } from '#events/webhooks/webhooks.module.js';
import { AccountApplicationsController } from './account-applications.controller.js';
import { AccountAuthenticatorAppController } from './account-authenticator-app.controller.js';
import { AccountConfirmController } from './account-confirm.controller.js';
import { AccountDeleteController, AccountDeletedController } from './account-delete.controller.js';
import { AccountExportController } from './account-export.controller.js';
import { AccountEmailController } from './account-email.controller.js';
import { AccountNotificationsController } from './account-notifications.controller.js';
import { AccountPasskeysController } from './account-passkeys.controller.js';
import { AccountPasswordController } from './account-password.controller.js';
import { AccountSecurityController } from './account-security.controller.js';
import { AccountSessionsController } from './account-sessions.controller.js';
import { AccountGuard } from './account.guard.js';
import { AddressLinks } from './sign-up/address-links.js';
import { UnsubscribeLinks } from './unsubscribe-links.js';
import { ApplicationLinks } from './pages/application-links.js';
import { AfterAnswer } from './sign-up/after-answer.service.js';
import { MailedLinks } from './sign-up/mailed-links.service.js';
import { EmailVerificationController } from './sign-up/email-verification.controller.js';
import { InvitationController } from './invitation.controller.js';
import { PasskeySignUpController } from './sign-up/passkey-sign-up.controller.js';
import { SignUpController } from './sign-up/sign-up.controller.js';
import { UnsubscribeController } from './unsubscribe.controller.js';

/** The users' own pages (contract §13) and sign-up (contract §18): controllers and pages that call the services of other modules. */
@Module({
  imports: [
    TokensModule,
    ConsentsModule,
    DisclosuresModule,
    HttpModule,
    NotificationsModule,
    UsersModule,
    IdentityProvidersModule,
    WebhooksModule,
    ClientsModule,
    PartnersModule,
    ScopesModule,
  ],
  controllers: [
    AccountApplicationsController,
    AccountAuthenticatorAppController,
    AccountConfirmController,
    AccountDeleteController,
    AccountDeletedController,
    AccountEmailController,
    AccountExportController,
    AccountNotificationsController,
    AccountPasskeysController,
    AccountPasswordController,
    AccountSecurityController,
    AccountSessionsController,
    EmailVerificationController,
    InvitationController,
    PasskeySignUpController,
    SignUpController,
    UnsubscribeController,
  ],
  providers: [AccountGuard, AddressLinks, AfterAnswer, ApplicationLinks, MailedLinks, UnsubscribeLinks],
  exports: [AddressLinks, ApplicationLinks, MailedLinks, UnsubscribeLinks],
})
export class AccountModule {}
