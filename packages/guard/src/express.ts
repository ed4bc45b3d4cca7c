import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { guarded, type AccessGuard } from './access-guard.js';
import type { Access } from './introspection.js';
import { AccessRefusal } from './refusal.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** What the token of the request may do; set by `requireAccess`. */
    access?: Access;
  }
}

/** What a route needs. */
export interface ExpressNeeds {
  scopes?: readonly string[];
  /** The id of the user whose data the request asks for; a request for which it returns undefined is refused. */
  userId?: (request: Request) => string | undefined;
}

/** Admits requests whose token may do what is needed; refuses all others. */
export const requireAccess =
  (guard: AccessGuard, { scopes, userId }: ExpressNeeds = {}): RequestHandler =>
  (request: Request, response: Response, next: NextFunction): void => {
    guard
      .authorize(guarded(request, request.originalUrl), {
        scopes,
        userId: userId && (userId(request) ?? ''),
      })
      .then((access) => {
        request.access = access;
        next();
      })
      .catch((error: unknown) => {
        if (!(error instanceof AccessRefusal)) return next(error);
        response.status(error.status).set(error.headers).send(error.body);
      });
  };

/** Serves the metadata of the guarded service (RFC 9728); for `app.use`, before any guard. */
export const protectedResourceMetadata =
  (guard: AccessGuard): RequestHandler =>
  (request: Request, response: Response, next: NextFunction): void => {
    const isAsked = request.method === 'GET' || request.method === 'HEAD';
    if (!isAsked || request.path !== guard.metadataPath) return next();
    response
      .set({ 'access-control-allow-origin': '*', 'cache-control': 'max-age=3600' })
      .json(guard.metadata);
  };
