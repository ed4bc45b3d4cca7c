import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Actor } from '../../audit/audit.service.js';
import { safeReturnTo } from '../../http/forms/return-to.js';
import type { OpenAnswer, OpenContext } from '../../http/page-routes/open-pages.js';
import { visitorOf } from '../../http/server/request-origin.js';
import { MailLimitsService } from '../../rate-limits/sign-in/mail-limits.service.js';
import { AfterAnswer } from './after-answer.service.js';
import { emailIn } from './email-field.js';
import { emailFormPage, mailSentPage, type EmailFormPageProps } from './email-form.page.js';

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

  async send(link: MailedLink, context: OpenContext, request: FastifyRequest): Promise<OpenAnswer> {
    const { email, error } = emailIn(context.form);
    const returnTo = safeReturnTo(context.form.get('return_to'));
    if (error !== undefined) {
      return { page: emailFormPage({ ...link.form, email, error, returnTo }), status: 400 };
    }
    if (await this.limits.admit(email, request.ip)) {
      const actor = visitorOf(request);
      this.afterAnswer.run(link.name, () => link.mail(email, returnTo, actor));
    }
    return { page: mailSentPage(email, link.sent, returnTo) };
  }
}
