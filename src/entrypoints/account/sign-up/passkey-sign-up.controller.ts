import { Controller, Header, HttpCode, Param, Post, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Settings } from '#platform/config/settings.js';
import { OwnPagesGuard } from '#platform/http/api/own-pages.guard.js';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { notFound, Problem } from '#platform/http/problems/problem.js';
import { PasskeySignUpsService } from '#access/users/emails/passkey-sign-ups.service.js';
import { say } from '#platform/language/text.js';

/** For the script of the page that ends a sign-up (contract §18): what the browser needs to make a passkey. */
@Controller('sign-up/:key/passkey')
@UseGuards(AddressRateLimitGuard, OwnPagesGuard)
@ApiExcludeController()
export class PasskeySignUpController {
  constructor(
    private readonly settings: Settings,
    private readonly signUps: PasskeySignUpsService,
  ) {}

  /** The options of `navigator.credentials.create`, with a new challenge. */
  @Post('options')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  async options(@Param('key') key: string, @Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    if (!this.settings.signUp) throw notFound(say('There is no such page.'));
    const options = await this.signUps.options(key, reply);
    if (!options) throw new Problem(410, say('Gone'), say('This link no longer works. Ask for a new one.'));
    return options;
  }
}
