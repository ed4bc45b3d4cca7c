import { Controller, Get, Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '#platform/config/settings.js';
import { sendPage } from '../page-routes/send-page.js';
import { jsonOrHtml } from '../server/negotiation.js';
import { renderPage } from '#platform/web/layout/layout.js';
import { problemPage } from '#platform/web/layout/problem.page.js';
import { PROBLEM_KINDS, type ProblemKind } from './problem-kinds.js';
import { notAcceptable, notFound } from './problem.js';
import { problemTypeUrl } from './render-problem.js';

/** The pages at the `type` URLs of problems (contract §1): HTML, or JSON on request. */
@Controller('v2/problems')
export class ProblemTypesController {
  constructor(private readonly settings: Settings) {}

  @Get(':slug')
  show(@Param('slug') slug: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    if (!Object.hasOwn(PROBLEM_KINDS, slug)) throw notFound('There is no problem type with this name.');
    const kind: ProblemKind = PROBLEM_KINDS[slug as keyof typeof PROBLEM_KINDS];
    void reply.header('vary', 'Accept');
    const wanted =
      request.headers.accept === undefined || request.headers.accept === '*/*' ? 'html' : jsonOrHtml(request);
    if (wanted === undefined) throw notAcceptable('This endpoint provides text/html and application/json.');
    if (wanted === 'html') {
      return sendPage(reply, renderPage(problemPage({ slug, ...kind }), reply.server.brand));
    }
    const { title, status, explanation, whatToDo } = kind;
    void reply.send({
      type: problemTypeUrl(this.settings.baseUrl, slug),
      status,
      title,
      explanation,
      what_to_do: whatToDo,
    });
  }
}
