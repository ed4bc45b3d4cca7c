import { FormBody } from '../../http/form-body.decorator.js';
import { Form, queryStringOf } from '../../http/form.js';
import { ConsolePages, ConsolePost, ConsoleGet, Visit } from './console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from './console-visit.js';
import { confirmPasswordPage } from './pages/confirm-password.page.js';
import { CONFIRM_PATH, consolePathIn } from './require-recent-password.js';

/** Asks for the password again before actions that grant power, create a secret or cannot be undone. */
@ConsolePages('confirm-password')
export class ConsoleConfirmPasswordController {
  @ConsoleGet()
  ask(@Visit() visit: ConsoleVisit): ConsoleAnswer {
    return this.form(visit, Form.parse(queryStringOf(visit.url)).get('return_to'));
  }

  /** A wrong password counts like a failed login; the right one renews the session, under a new id. */
  @ConsolePost('', 'not asked')
  async confirm(@Visit() visit: ConsoleVisit, @FormBody() form: Form): Promise<ConsoleAnswer> {
    const returnTo = form.get('return_to');
    const outcome = await visit.givePassword(form.get('password') ?? '');
    if (outcome === 'wrong') return this.form(visit, returnTo, 'This is not your password.');
    // If this browser was logged out meanwhile, the next page redirects to the login.
    return { goTo: consolePathIn(returnTo), notice: 'password_confirmed' };
  }

  private form(visit: ConsoleVisit, returnTo: string | undefined, error?: string): ConsoleAnswer {
    const html = confirmPasswordPage({
      frame: visit.frame,
      csrfToken: visit.tokenFor(CONFIRM_PATH),
      returnTo: consolePathIn(returnTo),
      error,
    });
    return { html, status: error ? 400 : 200 };
  }
}
