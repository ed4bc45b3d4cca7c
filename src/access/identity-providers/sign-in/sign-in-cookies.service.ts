import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { safeReturnTo } from '#platform/http/forms/return-to.js';
import { Cookies } from '#platform/http/server/cookies.js';
import { digestOf, isSecret, newSecret } from '#platform/secrets/tokens.js';

const COOKIE = 'sign_in';
const ENDED_COOKIE = 'signed_out';
/** Contract §15: how long a sign-in that was started works. */
export const SIGN_IN_SECONDS = 10 * 60;
// Longer, because tabs that a browser opens at once would otherwise each get a secret of their own.
const COOKIE_SECONDS = 365 * 86_400;
const ENDED_SECONDS = 5 * 60;
const NOWHERE = '1';
// Browsers keep cookies of up to 4096 characters.
const RETURN_TO_MAX = 3500;

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
    this.cookies.set(reply, COOKIE, secret, COOKIE_SECONDS);
    return digestOf(secret);
  }

  /**
   * Records that the user has just logged out or failed, so that the login page does not redirect to the only provider at once; and, for
   * someone who is coming back from the provider, where to go after the next login.
   */
  noteEnd(reply: FastifyReply, returnTo = NOWHERE): void {
    const isShort = encodeURIComponent(returnTo).length <= RETURN_TO_MAX;
    this.cookies.set(reply, ENDED_COOKIE, isShort ? returnTo : NOWHERE, ENDED_SECONDS);
  }

  /** Where a user who logged out at the provider was going. */
  returnTo(request: FastifyRequest): string | undefined {
    return safeReturnTo(this.cookies.get(request, ENDED_COOKIE));
  }

  hasJustEnded(request: FastifyRequest): boolean {
    return this.cookies.get(request, ENDED_COOKIE) !== undefined;
  }

  forgetEnd(request: FastifyRequest, reply: FastifyReply): void {
    if (this.hasJustEnded(request)) this.cookies.clear(reply, ENDED_COOKIE);
  }
}
