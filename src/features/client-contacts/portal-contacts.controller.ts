import { Param } from '@nestjs/common';
import { isEmail } from 'class-validator';
import { Settings } from '#platform/config/settings.js';
import { unlessConflict } from '#platform/http/page-routes/unless-conflict.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { badRequest } from '#platform/http/problems/problem.js';
import { illegible } from '#platform/http/validation/legible-text.js';
import { MailLimitsService } from '#access/rate-limits/sign-in/mail-limits.service.js';
import { ContactsService } from './contacts.service.js';
import { CONTACTS_PATH as PATH, contactsPage } from './contacts.page.js';
import {
  PORTAL_NOTICES,
  type PortalAnswer,
  type PortalContext,
} from '#entrypoints/webhook-portal/frame/portal-context.js';
import {
  PortalGet,
  PortalPages,
  PortalPost,
} from '#entrypoints/webhook-portal/frame/portal-pages.decorator.js';

const EMAIL_MAX = 254;

const NOTICES = PORTAL_NOTICES.add({
  contact_added: 'Contact added. We sent a link to the address, with which its owner confirms it.',
  contact_link_sent: 'We sent the link once more.',
  contact_removed: 'Contact removed.',
});

/** The addresses that are told when an endpoint is failing or was disabled, and when consents will soon end (contract §18). */
@PortalPages('contacts')
export class PortalContactsController {
  constructor(
    private readonly settings: Settings,
    private readonly contacts: ContactsService,
    private readonly limits: MailLimitsService,
  ) {}

  @PortalGet('', 'viewer')
  list(@Context() context: PortalContext): Promise<PortalAnswer> {
    return this.page(context);
  }

  /** Adds an address and mails it a link that verifies it. */
  @PortalPost('', 'nothing', 'developer')
  async add(@Context() context: PortalContext): Promise<PortalAnswer> {
    const email = context.form.get('email')?.trim() ?? '';
    if (email.length > EMAIL_MAX || !isEmail(email) || illegible(email) !== undefined) {
      const error = 'Enter an email address, such as name@mail.example.';
      return this.page(context, { email: email.slice(0, EMAIL_MAX), error, status: 400 });
    }
    const error = await this.refusalOf(context, email);
    if (error !== undefined) return this.page(context, { email, error, status: 429 });
    return unlessConflict(
      async () => {
        await this.contacts.add(context.clientId, email, context.actor);
        return { goTo: PATH, notice: NOTICES.contact_added };
      },
      (detail) => this.page(context, { email, error: detail, status: 409 }),
    );
  }

  /** `do` is `resend` or `remove`. */
  @PortalPost(':id', 'nothing', 'developer')
  async change(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const { clientId, form, actor } = context;
    const { email, verifiedAt } = await this.contacts.get(clientId, id);
    switch (form.get('do')) {
      case 'remove':
        await this.contacts.remove(clientId, id, actor);
        return { goTo: PATH, notice: NOTICES.contact_removed };
      case 'resend': {
        // Since the page was shown.
        if (verifiedAt)
          return this.page(context, { error: 'This address is confirmed already.', status: 409 });
        const error = await this.refusalOf(context, email);
        if (error !== undefined) return this.page(context, { error, status: 429 });
        await this.contacts.resend(clientId, id);
        return { goTo: PATH, notice: NOTICES.contact_link_sent };
      }
      default:
        throw badRequest('The form is incomplete. Go back, reload the page and try again.');
    }
  }

  /** Counts a mail; returns why it is not sent, if so. */
  private async refusalOf(context: PortalContext, email: string): Promise<string | undefined> {
    const { ownerId, user } = context.visitor;
    const refusal = await this.limits.admitOfPartner(email, ownerId, user?.id);
    if (refusal) context.retryAfter(refusal.retryAfterSeconds);
    return refusal?.reason;
  }

  private async page(
    { clientId }: PortalContext,
    { email, error, status }: { email?: string; error?: string; status?: number } = {},
  ): Promise<PortalAnswer> {
    const contacts = await this.contacts.list(clientId);
    return { page: contactsPage({ contacts, isMailOn: this.settings.sendsMail, email, error }), status };
  }
}
