import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isLoopbackHost } from '#platform/config/is-url.js';
import { Settings } from '#platform/config/settings.js';
import { notFound } from '#platform/http/problems/problem.js';
import { PageRoute, sendPage } from '#platform/http/page-routes/send-page.js';
import { renderPage } from '#platform/web/layout/layout.js';
import { demoText } from './demo-banner.js';
import type { DemoCredentials } from './demo-credentials.js';
import { demoGuide } from './demo-guide.js';
import { demoPage } from './pages/demo.page.js';

/** Under which the credentials of the demonstration are provided. */
export const DEMO_CREDENTIALS = Symbol('credentials of the demonstration');

/** What does not fit on the screen at the start: everybody's credentials, and commands to paste. */
@Controller()
export class DemoGuideController {
  constructor(
    private readonly settings: Settings,
    @Inject(DEMO_CREDENTIALS) private readonly credentials: DemoCredentials,
  ) {}

  @Get('demo')
  @PageRoute()
  show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.refuseOtherNames(request);
    const page = demoPage(demoGuide(this.settings, this.credentials));
    sendPage(reply, renderPage(page, reply.server.brand), { withScript: true });
  }

  @Get('demo.txt')
  text(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    this.refuseOtherNames(request);
    void reply
      .headers({ 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' })
      .send(demoText(this.settings, this.credentials));
  }

  /** A site whose name leads to this machine would otherwise read the credentials in its visitors' browsers. */
  private refuseOtherNames({ hostname }: FastifyRequest): void {
    if (isLoopbackHost(hostname)) return;
    throw notFound('There is nothing at this URL.');
  }
}
