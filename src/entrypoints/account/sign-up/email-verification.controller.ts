import { Param, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { OpenGet, OpenPages, OpenPost } from '#platform/http/page-routes/open-pages.js';
import type { OpenAnswer, OpenContext } from '#platform/http/page-routes/open-pages.js';
import { linkGone } from '#platform/http/page-routes/link-gone.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { visitorOf } from '#platform/http/server/request-origin.js';
import { messagePage } from '#platform/web/layout/message.page.js';
import { AddressLinks } from './address-links.js';
import { confirmAddressPage } from './confirm-address.page.js';
import { say } from '#platform/language/text.js';

/**
 * The page of a link that verifies an address: a user's, or one that a feature knows. Opening it changes nothing, because mail
 * scanners open links too.
 */
@OpenPages('email/verify/:key')
@UseGuards(AddressRateLimitGuard)
export class EmailVerificationController {
  constructor(private readonly links: AddressLinks) {}

  @OpenGet()
  async show(@Param('key') key: string): Promise<OpenAnswer> {
    const email = await this.links.find(key);
    return email === undefined
      ? gone()
      : { page: confirmAddressPage({ action: `/email/verify/${key}`, email }) };
  }

  @OpenPost()
  async confirm(
    @Param('key') key: string,
    @Context() _context: OpenContext,
    @Req() request: FastifyRequest,
  ): Promise<OpenAnswer> {
    return (await this.links.confirm(key, visitorOf(request))) ? { page: done() } : gone();
  }
}

const done = () =>
  messagePage({
    title: say('Address confirmed'),
    heading: say('Your address has been confirmed'),
    text: say('We’ll send account emails here from now on.'),
    action: { href: '/', label: say('Go to the start page') },
    isTranslated: true,
  });

const gone = (): OpenAnswer =>
  linkGone(
    say('A link to confirm an address works once, within 24 hours. Ask for a new one where you got it.'),
  );
