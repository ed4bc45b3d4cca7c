import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CsrfService } from '../../http/csrf.service.js';
import { PageRoute, sendPage } from '../../http/send-page.js';
import { homePage } from '../../http/pages/home.page.js';
import { LOGOUT_BINDING } from '../../users/logout-binding.js';
import { SessionsService } from '../../users/sessions.service.js';

/** The start page: what this service is, and who is logged in. */
@Controller()
export class StartPageController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly csrf: CsrfService,
  ) {}

  @Get()
  @PageRoute()
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const signedInAs = await this.sessions.current(request);
    const csrfToken = this.csrf.tokenFor(request, reply, LOGOUT_BINDING);
    sendPage(reply, homePage({ signedInAs, isOperator: signedInAs?.role === 'operator', csrfToken }));
  }
}
