import { say } from '#platform/language/text.js';
import { Settings } from '#platform/config/settings.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { notFound, badRequest } from '#platform/http/problems/problem.js';
import { MailLimitsService } from '#access/rate-limits/sign-in/mail-limits.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { EmailVerificationService } from '#access/users/emails/email-verification.service.js';
import type { AccountAnswer, AccountContext } from './account-context.js';
import { AccountGet, AccountPages, AccountPost } from './account.guard.js';
import { accountEmailPage } from './pages/account-email.page.js';

const PATH = '/account/email';

/** A user's address: whether it is verified, and which mails go to it (contract §18). */
@AccountPages('email')
export class AccountEmailController {
  constructor(
    private readonly settings: Settings,
    private readonly users: UsersService,
    private readonly emails: EmailVerificationService,
    private readonly limits: MailLimitsService,
  ) {}

  @AccountGet()
  show(@Context() context: AccountContext): Promise<AccountAnswer> {
    return this.page(context);
  }

  /** `do` is `send_link` or `choose`. */
  @AccountPost()
  async change(@Context() context: AccountContext): Promise<AccountAnswer> {
    const { user, form, actor } = context;
    switch (form.get('do')) {
      case 'send_link': {
        if (!this.settings.sendsMail) throw notFound(say('There is no such page.'));
        const seconds = await this.limits.waitFor(user.email);
        if (seconds !== undefined) {
          context.retryAfter(seconds);
          return this.page(context, 429);
        }
        const isSent = await this.emails.mailLink(user.id, actor);
        // The page says that the address is confirmed, which it was not when this form was opened.
        return isSent ? { goTo: PATH, notice: 'verification_sent' } : { goTo: PATH };
      }
      case 'choose':
        await this.emails.setWantedMails(user.id, form.getAll('wanted'), actor);
        return { goTo: PATH, notice: 'mails_chosen' };
      default:
        throw badRequest(say('The form is incomplete. Go back, reload the page and try again.'));
    }
  }

  private async page({ user }: AccountContext, status?: 429): Promise<AccountAnswer> {
    const { email, emailVerifiedAt } = await this.users.get(user.id);
    const wanted = await this.emails.wantedMails(user.id);
    const isMailOn = this.settings.sendsMail;
    const page = accountEmailPage({ email, emailVerifiedAt, wanted, isMailOn, isOverLimit: status === 429 });
    return { page, status };
  }
}
