import { Body, Controller, Header, HttpCode, Post, Req, Res, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OwnPagesGuard } from '#platform/http/api/own-pages.guard.js';
import { AFTER_LOGIN, safeReturnTo } from '#platform/http/forms/return-to.js';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { forbidden } from '#platform/http/problems/problem.js';
import { visitorOf } from '#platform/http/server/request-origin.js';
import { SignInLimitsService } from '#access/rate-limits/sign-in/sign-in-limits.service.js';
import { PasskeySignInsService } from '#access/users/factors/passkey-sign-ins.service.js';
import { say } from '#platform/language/text.js';
import { IsJsonObject, IsOptionalNotNull, IsText } from '#platform/http/validation/validation.decorators.js';

/** Body of `POST /login/passkey`. */
class PasskeyAnswerDto {
  /** The passkey's answer, as `PublicKeyCredential.toJSON()` writes it. */
  @IsJsonObject() response!: object;
  @IsOptionalNotNull() @IsText(0, 16_384) return_to?: string;
}

/**
 * Logging in with a passkey, by the script of the login page. The challenge is bound to the browser, so that no other site can log
 * it in.
 */
@Controller('login/passkey')
@UseGuards(AddressRateLimitGuard, OwnPagesGuard)
@ApiExcludeController()
export class PasskeySignInController {
  constructor(
    private readonly signIns: PasskeySignInsService,
    private readonly limits: SignInLimitsService,
  ) {}

  /** What the browser needs to let its user choose a passkey, with a new challenge. */
  @Post('options')
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  options(@Res({ passthrough: true }) reply: FastifyReply): Promise<object> {
    return this.signIns.options(reply);
  }

  /** Logs in: `location` says where to go. Anything that is not right about the answer gets the same 403 problem, and counts. */
  @Post()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  async signIn(
    @Body() { response, return_to }: PasskeyAnswerDto,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ location: string }> {
    const actor = visitorOf(request);
    const onWrong = () => this.limits.countRefused(request);
    if (!(await this.signIns.signIn(request, reply, response, actor, onWrong))) {
      throw forbidden(say('This passkey does not log you in here. Try again, or log in with your password.'));
    }
    return { location: safeReturnTo(return_to) ?? AFTER_LOGIN };
  }
}
