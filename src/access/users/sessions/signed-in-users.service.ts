import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressLimits } from '#platform/http/guards/address-rate-limit.guard.js';
import { isPosted } from '#platform/http/forms/form.js';
import type { SignedInUser } from './signed-in-user.js';
import { SessionsService } from './sessions.service.js';

/** Admits logged-in users to pages. */
@Injectable()
export class SignedInUsers {
  constructor(
    private readonly sessions: SessionsService,
    private readonly limits: AddressLimits,
  ) {}

  /**
   * The logged-in user; without one, redirects to the login page, and from there to `returnTo`. For addresses over their limit
   * (contract §7), no session is looked up.
   */
  async admit(
    request: FastifyRequest,
    reply: FastifyReply,
    returnTo: string,
  ): Promise<SignedInUser | undefined> {
    this.limits.refuseOverLimit(request);
    const user = await this.sessions.current(request);
    if (user) return user;
    await this.limits.countAddress(request);
    const query = new URLSearchParams({ return_to: returnTo });
    void reply
      .header('cache-control', 'no-store')
      .redirect(`/login?${query.toString()}`, isPosted(request) ? 303 : 302);
    return undefined;
  }
}
