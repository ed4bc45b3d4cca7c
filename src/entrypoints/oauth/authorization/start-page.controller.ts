import { Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Settings } from '#platform/config/settings.js';
import { AddressLimits } from '#platform/http/guards/address-rate-limit.guard.js';
import { OpenGet, OpenPages, type OpenAnswer } from '#platform/http/page-routes/open-pages.js';
import { startPage } from '#platform/web/layout/start.page.js';
import { SessionsService } from '#access/users/sessions/sessions.service.js';

/** The start page: what this service is, and who is logged in. */
@OpenPages()
export class StartPageController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly settings: Settings,
    private readonly limits: AddressLimits,
  ) {}

  /** For addresses over their limit (contract §7), no session is looked up. */
  @OpenGet()
  async show(@Req() request: FastifyRequest): Promise<OpenAnswer> {
    this.limits.refuseOverLimit(request);
    const signedInAs = await this.sessions.current(request);
    if (!signedInAs) await this.limits.countAddress(request);
    const { signUp, demonstration } = this.settings;
    return {
      page: startPage({
        signedInAs,
        isOperator: signedInAs?.role === 'operator',
        offersSignUp: signUp,
        liveSandbox: demonstration ? '/demo/sandbox' : undefined,
      }),
    };
  }
}
