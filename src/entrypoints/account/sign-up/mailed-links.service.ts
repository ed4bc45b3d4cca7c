import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { isEmail } from 'class-validator';
import type { Actor } from '#records/audit/audit.service.js';
import { safeReturnTo } from '#platform/http/forms/return-to.js';
import { OUT_OF_DATE, type OpenAnswer, type OpenContext } from '#platform/http/page-routes/open-pages.js';
import { visitorOf } from '#platform/http/server/request-origin.js';
import { MailLimitsService } from '#access/rate-limits/sign-in/mail-limits.service.js';
import { illegible } from '#platform/http/validation/legible-text.js';
import type { Form } from '#platform/http/forms/form.js';
import { say } from '#platform/language/text.js';
import { AfterAnswer } from './after-answer.service.js';
import { emailFormPage, mailSentPage, type EmailFormPageProps } from './email-form.page.js';

const EMAIL_MAX = 254;

/** The address that was typed into the field `email`, and what is wrong with it. */
function emailIn(form: Form): { email: string; error?: string } {
  const email = form.get('email')?.trim() ?? '';
  const isValid = email.length <= EMAIL_MAX && isEmail(email) && illegible(email) === undefined;
  return isValid
    ? { email }
    : { email: email.slice(0, EMAIL_MAX), error: say('Enter an email address, such as name@mail.example.') };
}

/** A form that asks for the address to which a link is mailed. */
export interface MailedLink {
  /** Its name in the log. */
  name: string;
  form: Pick<EmailFormPageProps, 'title' | 'text' | 'action' | 'submit'>;
  /** A message shown afterwards for any address. */
  sent: string;
  mail: (email: string, returnTo: string | undefined, actor: Actor) => Promise<void>;
}

/** Forms that mail a link to the entered address. The answer is the same for every address, and takes the same time. */
@Injectable()
export class MailedLinks {
  constructor(
    private readonly limits: MailLimitsService,
    private readonly afterAnswer: AfterAnswer,
  ) {}

  ask({ form }: MailedLink, { query }: OpenContext): OpenAnswer {
    return { page: emailFormPage({ ...form, returnTo: safeReturnTo(query.get('return_to')) }) };
  }

  /** The route needs `ShowsAgain`. */
  async send(link: MailedLink, context: OpenContext, request: FastifyRequest): Promise<OpenAnswer> {
    const { formOutOfDate } = context;
    const form = formOutOfDate ?? context.form;
    const { email, error } = emailIn(form);
    const returnTo = safeReturnTo(form.get('return_to'));
    const shown = { ...link.form, email, returnTo };
    if (formOutOfDate) return { page: emailFormPage({ ...shown, error: OUT_OF_DATE }), status: 422 };
    if (error !== undefined) return { page: emailFormPage({ ...shown, error }), status: 400 };
    if (await this.limits.admit(email, request.ip)) {
      const actor = visitorOf(request);
      this.afterAnswer.run(link.name, () => link.mail(email, returnTo, actor));
    }
    return { page: mailSentPage(email, link.sent, returnTo) };
  }
}
