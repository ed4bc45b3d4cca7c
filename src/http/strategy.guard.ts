import type { ExecutionContext } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { FastifyReply } from 'fastify';
import passport, { type Strategy, type StrategyCreatedStatic } from 'passport';

/** What a strategy gets to see of a request. Query and body are left out, so that a credential in them is never read. */
export interface CredentialsRequest {
  headers: { authorization: string };
}

interface Called {
  authenticate(request: CredentialsRequest, options: object): void;
}

/**
 * Makes one strategy usable for concurrent requests. Passport assigns the callbacks of a request to the given object and calls it
 * synchronously; here each request gets an object of its own, so that callbacks never mix.
 */
const forEachRequest = (strategy: Strategy) => ({
  authenticate(this: StrategyCreatedStatic, request: CredentialsRequest, options: object): void {
    const { success, fail, redirect, pass, error } = this;
    const own = Object.create(strategy) as Called;
    Object.assign(own, { success, fail, redirect, pass, error }).authenticate(request, options);
  },
});

/**
 * Nest's `AuthGuard` for an injected strategy, instead of a name in Passport's registry: the registry is global to the process
 * and shared by all applications in it.
 */
export abstract class StrategyGuard extends AuthGuard() {
  constructor(strategy: Strategy) {
    super({ defaultStrategy: forEachRequest(strategy) });
  }

  /** The part of the request from which the strategy reads its credentials. */
  abstract override getRequest(context: ExecutionContext): CredentialsRequest;

  getResponse(context: ExecutionContext): FastifyReply {
    return context.switchToHttp().getResponse<FastifyReply>();
  }
}

/** A separate Passport instance for a strategy to register itself with, instead of the global one. */
export const ownPassport = () => new passport.Passport();
