import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Form, queryStringOf } from '#platform/http/forms/form.js';
import { PageRoute, sendPage } from '#platform/http/page-routes/send-page.js';
import { notFound } from '#platform/http/problems/problem.js';
import { renderPage } from '#platform/web/layout/layout.js';
import { GoingLive } from './going-live/going-live.service.js';
import { pathOf, type Folder } from './handbook/catalogue.js';
import { DocsSearch } from './handbook/docs-search.service.js';
import { Handbook } from './handbook/handbook.service.js';
import { docsSearchPage } from './pages/docs-search.page.js';
import type { ForReader } from './pages/handbook.page.js';
import { DocsReaders } from './readers/docs-readers.service.js';

const GOING_LIVE = pathOf('guides', 'going-live');

/**
 * The guides and the pages about libraries, for everybody; with the values of a client for its members (contract §24). Scripts only add
 * to them.
 */
@Controller('docs')
@ApiExcludeController()
export class HandbookController {
  constructor(
    private readonly handbook: Handbook,
    private readonly found: DocsSearch,
    private readonly readers: DocsReaders,
    private readonly goingLive: GoingLive,
  ) {}

  @Get('guides')
  @PageRoute()
  index(@Res() reply: FastifyReply): void {
    sendPage(reply, this.handbook.index(reply.server.brand), { withScript: true });
  }

  @Get('guides/:slug')
  @PageRoute()
  guide(
    @Param('slug') slug: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.show('guides', slug, request, reply);
  }

  @Get('libraries/:slug')
  @PageRoute()
  library(
    @Param('slug') slug: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.show('libraries', slug, request, reply);
  }

  @Get('search')
  @PageRoute()
  async search(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const query = Form.parse(queryStringOf(request.url)).get('q')?.trim() ?? '';
    const page = docsSearchPage(query, query === '' ? [] : await this.found.find(query));
    sendPage(reply, renderPage(page, reply.server.brand), { withScript: true });
  }

  private async show(
    folder: Folder,
    slug: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const address = pathOf(folder, slug);
    const forReader = await this.forReader(address, request, reply);
    const page = this.handbook.page(address, reply.server.brand, forReader);
    if (page === undefined) throw notFound('There is no such guide. The list of guides is at /docs/guides.');
    sendPage(reply, page, { withScript: true, isPersonal: forReader !== undefined });
  }

  private async forReader(
    address: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<ForReader | undefined> {
    const reader = await this.readers.of(request, reply);
    if (!reader) return undefined;
    const { chosen } = reader.live;
    const checks = address === GOING_LIVE && chosen ? await this.goingLive.judge(chosen) : undefined;
    return { reader, checks };
  }
}
