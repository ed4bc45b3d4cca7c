import type { ExecutionContext } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { FastifyReply } from 'fastify';
import passport, { type Strategy, type StrategyCreatedStatic } from 'passport';

/**
 * The part of a request that Passport sees, and the strategy that reads it. Query and body are left out, so that a credential in
 * them is never read.
 */
export interface CredentialsRequest {
  strategy: Strategy;
  headers: { authorization: string };
}

/**
 * Passes a request on to the strategy that comes with it. Passport's registry is global to the process and shared by all
 * applications in it, so only this stands there, which keeps nothing. Passport calls it synchronously, on an object of its own
 * for each request with the callbacks of that request.
 */
const strategyOfRequest = {
  authenticate(this: StrategyCreatedStatic, request: CredentialsRequest, options: object): void {
    const { success, fail, redirect, pass, error } = this;
    const own = Object.create(request.strategy) as Called;
    own.success = success;
    own.fail = fail;
    own.redirect = redirect;
    own.pass = pass;
    own.error = error;
    own.authenticate(request, options);
  },
};

interface Called extends StrategyCreatedStatic {
  authenticate(request: CredentialsRequest, options: object): void;
}

const NAME = 'the strategy of the request';
// The types require a subclass of `Strategy`; Passport itself only calls `authenticate`.
passport.use(NAME, strategyOfRequest as unknown as Strategy);

/** Nest's `AuthGuard` for an injected strategy, instead of one by its name. */
export abstract class StrategyGuard extends AuthGuard(NAME) {
  constructor(protected readonly strategy: Strategy) {
    // Passport copies its options twice for each request, so a strategy in them would be slow.
    super({});
  }

  /** The part of the request from which the strategy reads its credentials. */
  abstract override getRequest(context: ExecutionContext): CredentialsRequest;

  getResponse(context: ExecutionContext): FastifyReply {
    return context.switchToHttp().getResponse<FastifyReply>();
  }
}

/** A separate Passport instance for a strategy to register itself with, instead of the global one. */
export const ownPassport = () => new passport.Passport();
