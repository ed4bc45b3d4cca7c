import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AccessTokensService } from '#access/tokens/access/access-tokens.service.js';
import { accessTokenOf } from '#access/tokens/access/principal.js';
import { PartnersOverLimit } from './partners-over-limit.service.js';
import { countDecision } from '../rate-limit-metrics.js';
import { RateLimitsService, retryAfterSeconds } from '../rate-limits.service.js';

/**
 * Refuses callers that this instance knows to be over their limit before the token is looked up, so that a flood of requests
 * costs no query (contract §7). A token that was valid a minute ago is good enough, because a refusal reveals nothing.
 */
@Injectable()
export class KnownPartnerLimitGuard implements CanActivate {
  constructor(
    private readonly limits: RateLimitsService,
    private readonly accessTokens: AccessTokensService,
    private readonly overLimit: PartnersOverLimit,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (!this.limits.hasRefusedPartners) return true;
    const { headers } = context.switchToHttp().getRequest<FastifyRequest>();
    const token = accessTokenOf(headers.authorization);
    const principal = token === undefined ? undefined : this.accessTokens.recall(token);
    if (!principal) return true;
    const limit = this.overLimit.limitOf(principal);
    const isRead = this.overLimit.isRead(context, principal);
    const refusal = this.limits.refusalOfPartner(principal.client.id, principal.userId, limit, isRead);
    if (!refusal) return true;
    countDecision(isRead ? 'partner-read' : 'partner', false);
    return this.overLimit.refuse(context, principal, limit, retryAfterSeconds(refusal));
  }
}
