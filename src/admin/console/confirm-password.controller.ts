import { Context } from '../../http/page-routes/page-context.js';
import type { ConsoleAnswer, ConsoleContext } from './console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from './console-pages.decorator.js';
import { confirmPasswordPage } from './pages/confirm-password.page.js';
import { consolePathIn } from './require-recent-password.js';

/** Asks for the password again before actions that grant power, create a secret or cannot be undone. */
@ConsolePages('confirm-password')
export class ConsoleConfirmPasswordController {
  @ConsoleGet('', 'not asked', 'support')
  ask(@Context() { query }: ConsoleContext): ConsoleAnswer {
    return this.form(query.get('return_to'));
  }

  /** A wrong password counts like a failed login; the right one renews the session, under a new id. */
  @ConsolePost('', 'not asked', 'support')
  async confirm(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const { form } = context;
    const returnTo = form.get('return_to');
    const outcome = await context.givePassword(form.get('password') ?? '');
    if (outcome === 'wrong') return this.form(returnTo, 'This is not your password.');
    // If this browser was logged out meanwhile, the next page redirects to the login.
    return { goTo: consolePathIn(returnTo), notice: 'password_confirmed' };
  }

  private form(returnTo: string | undefined, error?: string): ConsoleAnswer {
    const page = confirmPasswordPage({
      returnTo: consolePathIn(returnTo),
      error,
    });
    return { page, status: error ? 400 : 200 };
  }
}
