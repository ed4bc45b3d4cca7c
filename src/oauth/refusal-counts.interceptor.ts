import { Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { tap, type Observable } from 'rxjs';
import { ActivityService } from '../activity/activity.service.js';
import { OAuthError } from './oauth-error.js';

/** Counts what the OAuth endpoints refuse, by its error code, for whoever asks why a partner's requests fail. */
@Injectable()
export class RefusalCounts implements NestInterceptor {
  constructor(private readonly activity: ActivityService) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    return next.handle().pipe(tap({ error: (error: unknown) => this.count(error, request) }));
  }

  /** Client authentication counts its own refusals, with their reasons. */
  count(error: unknown, { oauthClient, ip }: FastifyRequest): void {
    if (!(error instanceof OAuthError) || error.code === 'invalid_client') return;
    this.activity.count({
      kind: 'token_refused',
      detail: error.code,
      clientId: oauthClient?.id,
      address: ip,
    });
  }
}
