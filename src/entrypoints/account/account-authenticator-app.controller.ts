import { say } from '#platform/language/text.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { notFound } from '#platform/http/problems/problem.js';
import { SECURITY_PATH } from '#access/users/factors/factor-paths.js';
import { AuthenticatorAppsService } from '#access/users/factors/authenticator-apps.service.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import type { AccountAnswer, AccountContext } from './account-context.js';
import { AsksToConfirm, AccountGet, AccountPages, AccountPost } from './account.guard.js';
import { newAppPage, removeAppPage } from './pages/authenticator-app.pages.js';
import { RECOVERY_CODES_PATH } from './pages/recovery-codes.page.js';

/** Sets up, replaces and removes a user's authenticator app. */
@AccountPages('security/app')
export class AccountAuthenticatorAppController {
  constructor(
    private readonly apps: AuthenticatorAppsService,
    private readonly factors: SecondFactorService,
  ) {}

  /** Shows a new secret, as a QR code and as text. */
  @AccountGet('new', AsksToConfirm())
  askForNew(@Context() context: AccountContext): Promise<AccountAnswer> {
    return this.newForm(context);
  }

  /** Stores the app once a code shows that it has the secret. */
  @AccountPost('new', AsksToConfirm())
  async add(@Context() context: AccountContext): Promise<AccountAnswer> {
    const { user, actor, form, t } = context;
    const setUp = this.apps.resume(user, form.get('set_up') ?? '');
    if (!setUp) {
      return this.newForm(context, { form: t('This took too long. Scan the new code below.') });
    }
    const code = (form.get('code') ?? '').replace(/\s/g, '');
    const added = await this.apps.confirm(user, setUp.secret, code, actor);
    if (!added) {
      const code = t('This code is not right. Enter the one that the app shows now.');
      return this.newForm(context, { code }, setUp);
    }
    const { recoveryCodes } = added;
    return recoveryCodes
      ? { goTo: RECOVERY_CODES_PATH, showOnce: { codes: recoveryCodes } }
      : { goTo: SECURITY_PATH, notice: 'app_added' };
  }

  @AccountGet('remove', AsksToConfirm())
  async askToRemove(@Context() { user, withPassword }: AccountContext): Promise<AccountAnswer> {
    const state = await this.factors.stateOf(user.id);
    if (!state.authenticatorApp) throw notFound(say('You have no authenticator app.'));
    return { page: removeAppPage(withPassword && !this.factors.isRequiredFor(user)) };
  }

  @AccountPost('remove', AsksToConfirm())
  async remove(@Context() { user, actor }: AccountContext): Promise<AccountAnswer> {
    await this.apps.remove(user, actor);
    return { goTo: SECURITY_PATH, notice: 'app_removed' };
  }

  private async newForm(
    { user }: AccountContext,
    errors?: FieldErrors,
    setUp = this.apps.begin(user),
  ): Promise<AccountAnswer> {
    const { authenticatorApp } = await this.factors.stateOf(user.id);
    const page = newAppPage({ setUp, replaces: authenticatorApp, errors });
    return { page, status: errors ? 400 : 200 };
  }
}
