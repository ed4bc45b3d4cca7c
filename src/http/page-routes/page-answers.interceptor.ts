import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import { Cookies } from '../cookies.js';
import { pageHeaders } from '../page-headers.js';
import type { PageAnswer } from './page-answer.js';
import { noticeCookieOf, type PageContext } from './page-context.js';

// Long enough for the redirect that follows a form.
const COOKIE_SECONDS = 60;

/** Sends the answer of a page route: a page, or a redirect to a page with a notice. */
@Injectable()
export class PageAnswers implements NestInterceptor<PageAnswer, string> {
  constructor(private readonly cookies: Cookies) {}

  intercept(context: ExecutionContext, next: CallHandler<PageAnswer>): Observable<string> {
    const http = context.switchToHttp();
    const { pageContext } = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    return next.handle().pipe(map((answer) => this.send(answer, reply, pageContext)));
  }

  private send(answer: PageAnswer, reply: FastifyReply, context: PageContext | undefined): string {
    if ('html' in answer) {
      const { status = 200, withScript = context?.area.withScript } = answer;
      void reply.status(status).headers(pageHeaders({ withScript }));
      return answer.html;
    }
    if (context && answer.showOnce) context.keepShown?.(answer.goTo, answer.showOnce);
    if (context && answer.notice) {
      this.cookies.set(reply, noticeCookieOf(context.area), answer.notice, COOKIE_SECONDS);
    }
    void reply
      .status(303)
      .headers({ location: answer.goTo, 'cache-control': 'no-store', 'content-type': 'text/plain' });
    return '';
  }
}
