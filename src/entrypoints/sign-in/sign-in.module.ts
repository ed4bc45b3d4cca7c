import { Module } from '@nestjs/common';
import { AccountModule } from '#entrypoints/account/account.module.js';
import { HttpModule } from '#platform/http/http.module.js';
import { IdentityProvidersModule } from '#access/identity-providers/identity-providers.module.js';
import { OAuthModule } from '#entrypoints/oauth/oauth.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { ForgottenPasswordController } from './forgotten-password.controller.js';
import { SignInController } from './sign-in.controller.js';
import { SignInDestinations } from './sign-in-destinations.service.js';
import { PasskeySignInController } from './passkey-sign-in.controller.js';
import { PasswordLinksController } from './password-links.controller.js';
import { SecondFactorController } from './second-factor.controller.js';

/** The pages on which people log in, with a password, a passkey and a second factor, and set a password that they forgot. */
@Module({
  imports: [AccountModule, HttpModule, IdentityProvidersModule, OAuthModule, UsersModule],
  controllers: [
    ForgottenPasswordController,
    SignInController,
    PasskeySignInController,
    PasswordLinksController,
    SecondFactorController,
  ],
  providers: [SignInDestinations],
})
export class SignInModule {}
