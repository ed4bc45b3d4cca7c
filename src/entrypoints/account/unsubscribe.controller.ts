import { Param, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { linkGone } from '#platform/http/page-routes/link-gone.js';
import {
  OneClickGet,
  OneClickPages,
  OneClickPost,
  type OpenAnswer,
} from '#platform/http/page-routes/open-pages.js';
import { visitorOf } from '#platform/http/server/request-origin.js';
import { UnsubscribeLinks } from './unsubscribe-links.js';
import { say } from '#platform/language/text.js';

/**
 * The page of the link that switches a kind of mail off (contract §18). Opening it changes nothing, because mail scanners open links too;
 * a mail program posts to it with one click, without opening it first.
 */
@OneClickPages('email/unsubscribe/:key')
@UseGuards(AddressRateLimitGuard)
export class UnsubscribeController {
  constructor(private readonly links: UnsubscribeLinks) {}

  @OneClickGet()
  async show(@Param('key') key: string): Promise<OpenAnswer> {
    const page = await this.links.ask(key, `/email/unsubscribe/${key}`);
    return page ? { page } : gone();
  }

  @OneClickPost()
  async unsubscribe(@Param('key') key: string, @Req() request: FastifyRequest): Promise<OpenAnswer> {
    const page = await this.links.stop(key, visitorOf(request));
    return page ? { page } : gone();
  }
}

const gone = (): OpenAnswer =>
  linkGone(
    say(
      'It is incomplete or was used already, or your account has another address now. Choose your mails in your account.',
    ),
    {
      href: '/account/email',
      label: say('Go to your account'),
    },
  );
