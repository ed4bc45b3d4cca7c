import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Cookies } from '../../http/server/cookies.js';
import { digestOf, isSecret, newSecret } from '../../secrets/tokens.js';

const COOKIE = 'sign_in';
const ENDED_COOKIE = 'signed_out';
/** Contract §15. */
export const SIGN_IN_SECONDS = 10 * 60;
const ENDED_SECONDS = 5 * 60;

/** The cookies of sign-ins through providers. Lax, because the callback is a link from the provider's site. */
@Injectable()
export class SignInCookies {
  constructor(private readonly cookies: Cookies) {}

  /** The digest of the browser's secret; undefined if the browser has not started a sign-in. */
  browserDigest(request: FastifyRequest): Buffer | undefined {
    const secret = this.cookies.get(request, COOKIE);
    return secret !== undefined && isSecret('signIn', secret) ? digestOf(secret) : undefined;
  }

  /** The same, with a new secret for a browser that has none. All sign-ins of a browser share it. */
  keep(request: FastifyRequest, reply: FastifyReply): Buffer {
    const kept = this.cookies.get(request, COOKIE);
    const secret = kept !== undefined && isSecret('signIn', kept) ? kept : newSecret('signIn');
    this.cookies.set(reply, COOKIE, secret, SIGN_IN_SECONDS);
    return digestOf(secret);
  }

  /**
   * Records that the user has just logged out or failed, so that the login page does not redirect to the only provider at once.
   */
  noteEnd(reply: FastifyReply): void {
    this.cookies.set(reply, ENDED_COOKIE, '1', ENDED_SECONDS);
  }

  hasJustEnded(request: FastifyRequest): boolean {
    return this.cookies.get(request, ENDED_COOKIE) !== undefined;
  }

  forgetEnd(request: FastifyRequest, reply: FastifyReply): void {
    if (this.hasJustEnded(request)) this.cookies.clear(reply, ENDED_COOKIE);
  }
}
