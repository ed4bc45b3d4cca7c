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
import type { Outcome } from './admin-actions.service.js';

/** Sends the result, or 202 with what the action waits for. */
class Outcomes implements NestInterceptor<Outcome<unknown>> {
  intercept(context: ExecutionContext, next: CallHandler<Outcome<unknown>>): Observable<unknown> {
    return next.handle().pipe(
      map((outcome) => {
        if (!outcome.waiting) return outcome.done;
        void context.switchToHttp().getResponse<FastifyReply>().status(HttpStatus.ACCEPTED);
        return outcome.waiting.view;
      }),
    );
  }
}

type Route = Parameters<MethodDecorator>;

const routes: Route[] = [];

/** A route whose action may wait for a second admin: it returns the outcome. */
export const MayWait = () =>
  applyDecorators(
    UseInterceptors(Outcomes),
    ((...route: Route) => void routes.push(route)) as MethodDecorator,
  );

/** Documents what these routes answer while an action waits. */
export const documentWaiting = (answer: MethodDecorator): void => routes.forEach((route) => answer(...route));

/** The outcome with its result as a view. */
export const outcomeAs = <T, V>(outcome: Outcome<T>, view: (done: T) => V): Outcome<V> =>
  outcome.waiting ? outcome : { done: view(outcome.done) };
