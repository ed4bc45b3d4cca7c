import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { map, type Observable } from 'rxjs';
import { Cookies } from '../../http/cookies.js';
import { pageHeaders } from '../../http/page-headers.js';
import type { ConsoleAnswer } from './console-visit.js';
import { NOTICE_COOKIE } from './console.guard.js';

// Long enough for the redirect that follows a form.
const COOKIE_SECONDS = 60;

/** Sends what a route of the console answered: the page, or the browser on to another with a word of what was done. */
@Injectable()
export class ConsoleAnswers implements NestInterceptor<ConsoleAnswer, string> {
  constructor(private readonly cookies: Cookies) {}

  intercept(context: ExecutionContext, next: CallHandler<ConsoleAnswer>): Observable<string> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(map((answer) => this.send(answer, reply)));
  }

  private send(answer: ConsoleAnswer, reply: FastifyReply): string {
    if ('html' in answer) {
      void reply.status(answer.status ?? 200).headers(pageHeaders());
      return answer.html;
    }
    if (answer.notice) this.cookies.set(reply, NOTICE_COOKIE, answer.notice, COOKIE_SECONDS);
    void reply
      .status(303)
      .headers({ location: answer.goTo, 'cache-control': 'no-store', 'content-type': 'text/plain' });
    return '';
  }
}
