import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { catchError, map, of, type Observable } from 'rxjs';
import { FormTargets } from './form-targets.js';
import { pageHeaders } from './page-headers.js';
import { renderPage } from '../../web/layout/layout.js';
import type { PageAnswer } from './page-answer.js';
import type { PageContext } from './page-context.js';
import { SignedOutMeanwhile } from './signed-out-meanwhile.js';

/**
 * Sends the answer of a page route: a page in the layout of its area, or a redirect to a page with a notice. Whoever was logged out
 * meanwhile is redirected to the first page of the area.
 */
@Injectable()
export class PageAnswers implements NestInterceptor<PageAnswer<unknown, string>, string> {
  constructor(private readonly formTargets: FormTargets) {}

  intercept(context: ExecutionContext, next: CallHandler<PageAnswer<unknown, string>>): Observable<string> {
    const http = context.switchToHttp();
    const { pageContext } = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    return next.handle().pipe(
      catchError((error: unknown) => {
        if (error instanceof SignedOutMeanwhile) return of({ goTo: pageContext!.home });
        throw error;
      }),
      map((answer) => this.send(answer, reply, pageContext!)),
    );
  }

  private send(answer: PageAnswer<unknown, string>, reply: FastifyReply, context: PageContext): string {
    if ('page' in answer) {
      const { status = 200 } = answer;
      const page = context.layOut(answer.page);
      const html = renderPage(page, context.tokenFor);
      const formTargets = [...(answer.formTargets ?? []), ...this.formTargets.of(context.formPaths)];
      void reply.status(status).headers(pageHeaders({ withScript: !!page.scripts?.length, formTargets }));
      return html;
    }
    const { goTo, status = 303, notice, showOnce } = answer;
    if (showOnce) context.keepShown?.(goTo, showOnce);
    if (notice) context.leaveNotice(notice);
    void reply
      .status(status)
      .headers({ location: goTo, 'cache-control': 'no-store', 'content-type': 'text/plain' });
    return '';
  }
}
