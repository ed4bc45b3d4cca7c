import { Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Settings } from '../../config/settings.js';
import { OpenGet, OpenPages, type OpenAnswer } from '../../http/page-routes/open-pages.js';
import { startPage } from '../../web/layout/start.page.js';
import { SessionsService } from '../../users/sessions/sessions.service.js';

/** The start page: what this service is, and who is logged in. */
@OpenPages()
export class StartPageController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly settings: Settings,
  ) {}

  @OpenGet()
  async show(@Req() request: FastifyRequest): Promise<OpenAnswer> {
    const signedInAs = await this.sessions.current(request);
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
