import {
  applyDecorators,
  HttpStatus,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { map, type Observable } from 'rxjs';
import { ApiAnswer } from '#platform/http/api/api-answers.js';
import type { Outcome } from '../../approvals/four-eyes.service.js';
import { ApprovalView } from './admin-approvals.dto.js';

/** Sends the result, or 202 with the approval that the action waits for. */
class Outcomes implements NestInterceptor<Outcome<unknown>> {
  intercept(context: ExecutionContext, next: CallHandler<Outcome<unknown>>): Observable<unknown> {
    return next.handle().pipe(
      map((outcome) => {
        if (!outcome.waiting) return outcome.done;
        void context.switchToHttp().getResponse<FastifyReply>().status(HttpStatus.ACCEPTED);
        return ApprovalView.of(outcome.waiting);
      }),
    );
  }
}

/** A route whose action may wait for a second admin: it returns the outcome. */
export const MayWait = () =>
  applyDecorators(
    UseInterceptors(Outcomes),
    ApiAnswer(202, 'With `FOUR_EYES=true`: nothing is done until a second admin approves.', ApprovalView),
  );

/** The outcome with its result as a view. */
export const outcomeAs = <T, V>(outcome: Outcome<T>, view: (done: T) => V): Outcome<V> =>
  outcome.waiting ? outcome : { done: view(outcome.done) };
