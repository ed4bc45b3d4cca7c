import { FormBody } from '../../http/form-body.decorator.js';
import { Form, queryStringOf } from '../../http/form.js';
import { Context } from '../../http/page-routes/page-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from './console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleContext } from './console-context.js';
import { confirmPasswordPage } from './pages/confirm-password.page.js';
import { CONFIRM_PATH, consolePathIn } from './require-recent-password.js';

/** Asks for the password again before actions that grant power, create a secret or cannot be undone. */
@ConsolePages('confirm-password')
export class ConsoleConfirmPasswordController {
  @ConsoleGet()
  ask(@Context() context: ConsoleContext): ConsoleAnswer {
    return this.form(context, Form.parse(queryStringOf(context.url)).get('return_to'));
  }

  /** A wrong password counts like a failed login; the right one renews the session, under a new id. */
  @ConsolePost('', 'not asked')
  async confirm(@Context() context: ConsoleContext, @FormBody() form: Form): Promise<ConsoleAnswer> {
    const returnTo = form.get('return_to');
    const outcome = await context.givePassword(form.get('password') ?? '');
    if (outcome === 'wrong') return this.form(context, returnTo, 'This is not your password.');
    // If this browser was logged out meanwhile, the next page redirects to the login.
    return { goTo: consolePathIn(returnTo), notice: 'password_confirmed' };
  }

  private form(context: ConsoleContext, returnTo: string | undefined, error?: string): ConsoleAnswer {
    const html = confirmPasswordPage({
      layoutProps: context.layoutProps,
      csrfToken: context.tokenFor(CONFIRM_PATH),
      returnTo: consolePathIn(returnTo),
      error,
    });
    return { html, status: error ? 400 : 200 };
  }
}
