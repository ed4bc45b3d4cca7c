import { Context } from '#platform/http/page-routes/page-context.js';
import { PasskeysService } from '#access/users/factors/passkeys.service.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import type { AccountAnswer, AccountContext } from './account-context.js';
import { AsksToConfirm, AccountGet, AccountPages, AccountPost } from './account.guard.js';
import { recoveryCodesPage, RECOVERY_CODES_PATH } from './pages/recovery-codes.page.js';
import { securityPage } from './pages/security.page.js';

/** How a user logs in besides the password, and recovery codes (contract §16). */
@AccountPages('security')
export class AccountSecurityController {
  constructor(
    private readonly factors: SecondFactorService,
    private readonly passkeys: PasskeysService,
  ) {}

  @AccountGet()
  async show(@Context() { user, withPassword }: AccountContext): Promise<AccountAnswer> {
    const [state, passkeys] = await Promise.all([this.factors.stateOf(user.id), this.passkeys.list(user.id)]);
    const isRequired = this.factors.isRequiredFor(user);
    const isOperator = user.role === 'operator';
    return { page: securityPage({ state, passkeys, isRequired, isOperator, withPassword }) };
  }

  /** The codes that were just made, shown once; otherwise how many are left. */
  @AccountGet('recovery-codes')
  async showRecoveryCodes(@Context() context: AccountContext): Promise<AccountAnswer> {
    const state = await this.factors.stateOf(context.user.id);
    const shown = context.takeShown() as { codes: string[] } | undefined;
    return { page: recoveryCodesPage({ codes: shown?.codes, state }) };
  }

  /** Creates new codes, which replace the old ones. */
  @AccountPost('recovery-codes', AsksToConfirm())
  async makeRecoveryCodes(@Context() { user, actor }: AccountContext): Promise<AccountAnswer> {
    const codes = await this.factors.makeRecoveryCodes(user, actor);
    return { goTo: RECOVERY_CODES_PATH, showOnce: { codes } };
  }
}
