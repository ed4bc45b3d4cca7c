import { Controller, Get, Param, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { PageRoute, sendPage } from '../http/page-routes/send-page.js';
import { notFound } from '../http/problems/problem.js';
import { Handbook } from './handbook/handbook.service.js';

/** The guides and the pages about libraries, for everybody (contract §24). The only script adds copy buttons. */
@Controller('docs')
@ApiExcludeController()
export class HandbookController {
  constructor(private readonly handbook: Handbook) {}

  @Get('guides')
  @PageRoute()
  index(@Res() reply: FastifyReply): void {
    sendPage(reply, this.handbook.index(reply.server.brand));
  }

  @Get('guides/:slug')
  @PageRoute()
  guide(@Param('slug') slug: string, @Res() reply: FastifyReply): void {
    this.show(reply, this.handbook.page('guides', slug, reply.server.brand));
  }

  @Get('libraries/:slug')
  @PageRoute()
  library(@Param('slug') slug: string, @Res() reply: FastifyReply): void {
    this.show(reply, this.handbook.page('libraries', slug, reply.server.brand));
  }

  private show(reply: FastifyReply, page: string | undefined): void {
    if (page === undefined) throw notFound('There is no such guide. The list of guides is at /docs/guides.');
    sendPage(reply, page, { withScript: true });
  }
}
