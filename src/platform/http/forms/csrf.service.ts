import CsrfTokens from '@fastify/csrf';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '#platform/config/settings.js';
import { purposeKey } from '#platform/secrets/purpose-key.js';
import { Cookies } from '../server/cookies.js';
import type { Form } from './form.js';
import { formExpired } from '../problems/problem.js';
import { say } from '#platform/language/text.js';

const COOKIE = 'csrf';
/** The name of the hidden field. */
export const CSRF_FIELD = 'csrf_token';

/**
 * CSRF tokens of forms: a secret in a cookie, and a token derived from it in the form. A token can be bound to what the form
 * showed (the user, the request), so that it is valid for nothing else.
 */
@Injectable()
export class CsrfService {
  /** With the current key, then with the previous ones. */
  private readonly tokens: CsrfTokens.TokensUserinfo[];

  constructor(
    private readonly cookies: Cookies,
    private readonly settings: Settings,
  ) {
    this.tokens = settings.encryptionKeys.map((key) =>
      CsrfTokens({ secretLength: 32, userInfo: true, hmacKey: purposeKey('csrf tokens', key) }),
    );
  }

  /** The secret of this browser; undefined if it has none. */
  secretIn(request: FastifyRequest): string | undefined {
    const secret = this.cookies.get(request, COOKIE);
    return secret && /^[A-Za-z0-9_-]{43}$/.test(secret) ? secret : undefined;
  }

  /** A token for a form in the current response; sets the cookie if the browser has none. */
  tokenFor(request: FastifyRequest, reply: FastifyReply, binding: string): string {
    let secret = this.secretIn(request);
    if (!secret) {
      secret = this.tokens[0]!.secretSync();
      this.cookies.set(reply, COOKIE, secret);
      // Other forms of the same page must get the same secret.
      this.cookies.remember(request, COOKIE, secret);
    }
    return this.tokens[0]!.create(secret, binding);
  }

  /** Throws a 403 problem unless the form came from a page of this service with the same binding. */
  check(request: FastifyRequest, form: Form, binding: string): void {
    if (this.isOutOfDate(request, form, binding)) throw notFromHere();
  }

  /**
   * Whether the form has no token for this binding, or another one: its page was opened with another session, or before cookies were
   * deleted. Such a form must not be followed, but its page may be shown again. Throws a 403 problem for a form of another site.
   */
  isOutOfDate(request: FastifyRequest, form: Form, binding: string): boolean {
    const { origin } = request.headers;
    if (origin !== undefined && origin !== this.settings.baseUrl) throw notFromHere();
    const secret = this.secretIn(request);
    const token = form.get(CSRF_FIELD);
    return !(secret && token && this.tokens.some((each) => each.verify(secret, token, binding)));
  }
}

/** The problem (403) of a form that must not be followed. */
export const notFromHere = () =>
  formExpired(
    say(
      'This form has expired or did not come from a page of this service. Go back, reload the page and try again.',
    ),
  );
