import { Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Context } from '#platform/http/page-routes/page-context.js';
import { ReAuthentication } from '#access/identity-providers/sign-in/re-authentication.service.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import type { ConsoleAnswer, ConsoleContext } from './console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from './console-pages.decorator.js';
import { text } from '#platform/language/text.js';
import { confirmAtProviderPage, confirmPasswordPage } from './pages/confirm-password.page.js';
import { consolePathIn } from './password-rule.js';

/**
 * Asks for the password again before actions that grant power, create a secret or cannot be undone. Users who came from an
 * identity provider authenticate there again, and so does everyone if passwords are switched off.
 */
@ConsolePages('confirm-password')
export class ConsoleConfirmPasswordController {
  constructor(
    private readonly providers: ReAuthentication,
    private readonly factors: SecondFactorService,
  ) {}

  @ConsoleGet('', 'not asked', 'support')
  ask(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    return this.form(context, context.query.get('return_to'));
  }

  /** A wrong password counts like a failed login; the right one renews the session, under a new id. */
  @ConsolePost('', 'not asked', 'support')
  async confirm(
    @Context() context: ConsoleContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ConsoleAnswer> {
    const { form, user } = context;
    const returnTo = consolePathIn(form.get('return_to'));
    if (!(await this.providers.isByPassword(user))) {
      const begun = await this.providers.begin(user, returnTo, request, reply);
      return 'leaveTo' in begun ? begun : this.form(context, returnTo, text('en', begun.error, begun.values));
    }
    const outcome = await context.givePassword(form.get('password') ?? '');
    if (outcome === 'wrong') return this.form(context, returnTo, 'This is not your password.');
    // If this browser was logged out in the meantime, the next page redirects to the login.
    return { goTo: returnTo, notice: 'password_confirmed' };
  }

  private async form(
    { user }: ConsoleContext,
    path: string | undefined,
    error?: string,
  ): Promise<ConsoleAnswer> {
    const status = error ? 400 : 200;
    const returnTo = consolePathIn(path);
    const hasPasskeys = user.method !== 'provider' && (await this.factors.stateOf(user.id)).passkeys > 0;
    const props = { returnTo, hasPasskeys, error };
    if (await this.providers.isByPassword(user)) return { page: confirmPasswordPage(props), status };
    const { label } = await this.providers.placeOf(user);
    return { page: confirmAtProviderPage({ ...props, label }), status };
  }
}
