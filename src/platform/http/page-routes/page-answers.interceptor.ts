import {
  Injectable,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  type StreamableFile,
} from '@nestjs/common';
import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { catchError, map, mergeMap, of, type Observable } from 'rxjs';
import { DomainQuestions } from '#platform/database/domain/domain-questions.service.js';
import { FormAnswers, giveAgain } from '../forms/form-answers.service.js';
import { exchangeOf } from '../server/exchange.js';
import { leaveUncompressed } from '../server/compression.js';
import { pageHeaders } from './page-headers.js';
import { renderPage } from '#platform/web/layout/layout.js';
import { wayOutPage } from '#platform/web/layout/way-out.page.js';
import { csvFile } from './csv-answer.js';
import type { PageAnswer, StreamAnswer, WayOut } from './page-answer.js';
import type { PageContext } from './page-context.js';
import { isPosted } from '../forms/form.js';
import { NoLongerSignedIn } from './page-answer.js';
import { PageTurns } from './page-turns.js';

type Sent = string | StreamableFile | Readable;

/**
 * Sends the answer of a page route, such as a page in the layout of its area, or a redirect with a notice. A form that is posted twice
 * gets it twice. A user who was logged out in the meantime is redirected to the first page of the area.
 */
@Injectable()
export class PageAnswers implements NestInterceptor<PageAnswer<unknown, string>, Sent> {
  constructor(
    private readonly questions: DomainQuestions,
    private readonly answers: FormAnswers,
    private readonly turns: PageTurns,
  ) {}

  async intercept(
    context: ExecutionContext,
    next: CallHandler<PageAnswer<unknown, string>>,
  ): Promise<Observable<Sent>> {
    const { request, reply } = exchangeOf(context);
    const { pageContext } = request;
    const again = isPosted(request) ? await this.answers.begin(request) : undefined;
    if (again) return of(again).pipe(map((answer) => giveAgain(answer, reply)));
    return next.handle().pipe(
      catchError((error: unknown) => {
        if (error instanceof NoLongerSignedIn) return of({ goTo: pageContext!.home });
        throw error;
      }),
      mergeMap((answer) => this.send(answer, reply, pageContext!)),
    );
  }

  private async send(
    answer: PageAnswer<unknown, string>,
    reply: FastifyReply,
    context: PageContext,
  ): Promise<Sent> {
    if ('page' in answer) {
      const { status = 200 } = answer;
      await context.prepare?.();
      await this.turns.take();
      const page = { ...context.layOut(answer.page), reader: context.reader };
      if (page.isTranslated && page.reader.url?.includes('?')) leaveUncompressed(reply.request);
      void reply.status(status).headers(pageHeaders({ withScript: !!page.scripts?.length }));
      return renderPage(page, reply.server.brand, context.tokenFor);
    }
    if ('leaveTo' in answer) return this.wayOut(answer, reply, context);
    if ('file' in answer) {
      fileHeaders(reply, answer.file.name, answer.file.type);
      return answer.file.text;
    }
    if ('stream' in answer) return this.stream(answer, reply);
    if ('csv' in answer) {
      fileHeaders(reply, answer.csv.name, 'text/csv; charset=utf-8');
      return csvFile(answer.csv, this.turns);
    }
    const { goTo, status = 303, notice, showOnce } = answer;
    if (showOnce) context.keepShown?.(goTo, showOnce);
    if (notice) context.leaveNotice(notice);
    const leadsAway = await Promise.all(this.questions.askAll('page.leads_away', goTo));
    if (leadsAway.includes(true)) {
      return this.wayOut({ leaveTo: goTo }, reply, context);
    }
    void reply
      .status(status)
      .headers({ location: goTo, 'cache-control': 'no-store', 'content-type': 'text/plain' });
    return '';
  }

  private stream({ stream }: StreamAnswer, reply: FastifyReply): Readable {
    reply.request.endPageTurn?.();
    reply.raw.once('close', () => stream.destroy());
    // The reader may have disconnected in the meantime.
    if (reply.raw.destroyed) stream.destroy();
    // Proxies must not buffer the stream, and the connection closes with it.
    void reply.headers({
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      connection: 'close',
    });
    return stream;
  }

  private wayOut({ leaveTo, name, heading }: WayOut, reply: FastifyReply, context: PageContext): string {
    void reply.status(200).headers(pageHeaders());
    const { language } = context.reader;
    return renderPage({ ...wayOutPage(leaveTo, name, heading), reader: { language } }, reply.server.brand);
  }
}

function fileHeaders(reply: FastifyReply, name: string, type: string): void {
  void reply.status(200).headers({
    'content-type': type,
    'content-disposition': `attachment; filename="${name}"`,
    'cache-control': 'no-store',
  });
}
