import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import { Cookies } from '../../http/cookies.js';
import { pageHeaders } from '../../http/page-headers.js';
import type { ConsoleAnswer } from './console-visit.js';
import { NOTICE_COOKIE } from './console.guard.js';
import { ShownOnce } from './shown-once.service.js';

// Long enough for the redirect that follows a form.
const COOKIE_SECONDS = 60;

/** Sends the answer of a console route: a page, or a redirect to a page with a notice. */
@Injectable()
export class ConsoleAnswers implements NestInterceptor<ConsoleAnswer, string> {
  constructor(
    private readonly cookies: Cookies,
    private readonly shownOnce: ShownOnce,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler<ConsoleAnswer>): Observable<string> {
    const http = context.switchToHttp();
    const [request, reply] = [http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>()];
    return next.handle().pipe(map((answer) => this.send(answer, request, reply)));
  }

  private send(answer: ConsoleAnswer, request: FastifyRequest, reply: FastifyReply): string {
    if ('html' in answer) {
      const { status = 200, withScript } = answer;
      void reply.status(status).headers(pageHeaders({ withScript }));
      return answer.html;
    }
    if (answer.showOnce) {
      this.shownOnce.keep(reply, request.consoleVisit!.user, answer.goTo, answer.showOnce);
    }
    if (answer.notice) this.cookies.set(reply, NOTICE_COOKIE, answer.notice, COOKIE_SECONDS);
    void reply
      .status(303)
      .headers({ location: answer.goTo, 'cache-control': 'no-store', 'content-type': 'text/plain' });
    return '';
  }
}
