import { Param, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { unlessConflict } from '#platform/http/page-routes/unless-conflict.js';
import { withReturnTo } from '#platform/http/forms/return-to.js';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { OpenGet, OpenPages, OpenPost, ShowsAgain } from '#platform/http/page-routes/open-pages.js';
import type { OpenAnswer, OpenContext } from '#platform/http/page-routes/open-pages.js';
import { linkGone } from '#platform/http/page-routes/link-gone.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { notFound } from '#platform/http/problems/problem.js';
import { visitorOf } from '#platform/http/server/request-origin.js';
import { PasskeySignUpsService } from '#access/users/emails/passkey-sign-ups.service.js';
import { MailedSignInsService } from '#access/users/emails/mailed-sign-ins.service.js';
import { SignUpService, type NewSignUp, type ShownSignUp } from '#access/users/emails/sign-up.service.js';
import { messagePage } from '#platform/web/layout/message.page.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { browserNameOf } from '#access/users/sessions/browser-name.js';
import { MailedLinks, type MailedLink } from './mailed-links.service.js';
import { signUpPage } from './sign-up.page.js';
import { nameErrors, signUpErrors, signUpFieldsIn } from './sign-up-fields.js';
import { say } from '#platform/language/text.js';

/** Drivers create their own accounts (contract §18): first they prove their address, then they give a name, and a password or a passkey. */
@OpenPages('sign-up')
@UseGuards(AddressRateLimitGuard)
export class SignUpController {
  constructor(
    private readonly settings: Settings,
    private readonly signUps: SignUpService,
    private readonly passkeySignUps: PasskeySignUpsService,
    private readonly mailed: MailedLinks,
    private readonly logins: MailedSignInsService,
  ) {}

  private readonly link: MailedLink = {
    name: 'A link to create an account',
    form: {
      title: say('Create an account'),
      text: say('Enter your email address. We send you a link with which you can create your account.'),
      action: '/sign-up',
      submit: say('Send link'),
    },
    sent: say('We sent a mail to this address. Follow its link to continue; it works for 24 hours.'),
    mail: (...to) => this.signUps.mailLink(...to),
  };

  @OpenGet()
  ask(@Context() context: OpenContext): OpenAnswer {
    this.refuseUnlessOn();
    return this.mailed.ask(this.link, context);
  }

  /** The same answer for every address; one that has an account gets a mail that says so. */
  @OpenPost('', ShowsAgain())
  async send(@Context() context: OpenContext, @Req() request: FastifyRequest): Promise<OpenAnswer> {
    this.refuseUnlessOn();
    return this.mailed.send(this.link, context, request);
  }

  @OpenGet(':key')
  async show(@Param('key') key: string): Promise<OpenAnswer> {
    this.refuseUnlessOn();
    const link = await this.signUps.find(key);
    return link ? this.form(key, link) : gone();
  }

  /** Creates the account. If the link was requested on the way to a page, it logs in and leads there. */
  @OpenPost(':key')
  async create(
    @Param('key') key: string,
    @Context() { form }: OpenContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OpenAnswer> {
    this.refuseUnlessOn();
    const link = await this.signUps.find(key);
    if (!link) return gone();
    const { password_again: again, ...person } = signUpFieldsIn(form);
    // Our script fills it in.
    const passkey = form.get('response') || undefined;
    const errors = passkey ? nameErrors(person.name) : signUpErrors({ ...person, password_again: again });
    if (Object.keys(errors).length > 0) {
      return this.form(key, link, person.name, errors);
    }
    const redeem = async (): Promise<OpenAnswer> => {
      const actor = visitorOf(request);
      if (passkey === undefined) {
        const made = await this.signUps.redeem(key, person, actor);
        return made ? await this.goOn(made, 'password', request, reply, actor) : gone();
      }
      const passkeyName = browserNameOf(request.headers['user-agent'] ?? null);
      const named = { name: person.name, passkeyName };
      const outcome = await this.passkeySignUps.redeem(key, named, passkey, request, reply, actor);
      if (outcome === 'gone') return gone();
      if (outcome === 'wrong answer') return this.form(key, link, person.name, { form: WRONG_ANSWER });
      return await this.goOn(outcome, 'passkey', request, reply, actor);
    };
    return unlessConflict(redeem, () => ({ page: taken(link.returnTo), status: 409 }));
  }

  private form(key: string, { email }: ShownSignUp, name?: string, errors?: FieldErrors): OpenAnswer {
    const action = `/sign-up/${key}`;
    const page = signUpPage({ action, email, name, errors, passkeyOptions: `${action}/passkey/options` });
    return { page, status: errors ? 400 : 200 };
  }

  private async goOn(
    { user, returnTo }: NewSignUp,
    method: 'password' | 'passkey',
    request: FastifyRequest,
    reply: FastifyReply,
    actor: Actor,
  ): Promise<OpenAnswer> {
    if (returnTo === undefined) return { page: done(method) };
    const goTo = await this.logins.signIn(request, reply, user, method, returnTo, actor);
    return goTo === undefined ? { page: done(method, returnTo) } : { goTo };
  }

  private refuseUnlessOn(): void {
    if (!this.settings.signUp) throw notFound(say('There is no such page.'));
  }
}

const WRONG_ANSWER = say(
  'Your account was not created, because your browser’s answer was not right. Try again, or choose a password.',
);

const done = (by: 'password' | 'passkey', returnTo?: string) =>
  messagePage({
    title: say('Account created'),
    heading: say('Your account has been created'),
    text:
      by === 'passkey'
        ? say('You can log in now, with your passkey.')
        : say('You can log in now, with your email address and your password.'),
    action: { href: withReturnTo('/login', returnTo), label: say('Go to the login page') },
    isTranslated: true,
  });

const taken = (returnTo: string | undefined) =>
  messagePage({
    title: say('You have an account'),
    heading: say('You already have an account'),
    text: say('There is an account with this email address now. Log in, or ask for a new password there.'),
    action: { href: withReturnTo('/login', returnTo), label: say('Go to the login page') },
    isTranslated: true,
  });

const gone = (): OpenAnswer =>
  linkGone(say('A link to create an account works once, within 24 hours.'), {
    href: '/sign-up',
    label: say('Ask for a new link'),
  });
