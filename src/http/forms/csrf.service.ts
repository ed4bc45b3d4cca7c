import CsrfTokens from '@fastify/csrf';
import { Injectable } from '@nestjs/common';
import { hkdfSync } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '../../config/settings.js';
import { Cookies } from '../server/cookies.js';
import type { Form } from './form.js';
import { formExpired } from '../problems/problem.js';

const COOKIE = 'csrf';
/** The name of the hidden field. */
const CSRF_FIELD = 'csrf_token';

/**
 * CSRF tokens of forms: a secret in a cookie, and a token derived from it in the form. A token can be bound to what the form
 * showed (the user, the request), so that it is valid for nothing else.
 */
@Injectable()
export class CsrfService {
  private readonly tokens: CsrfTokens.TokensUserinfo;

  constructor(
    private readonly cookies: Cookies,
    private readonly settings: Settings,
  ) {
    const hmacKey = Buffer.from(hkdfSync('sha256', settings.encryptionKey, '', 'csrf tokens', 32));
    this.tokens = CsrfTokens({ secretLength: 32, userInfo: true, hmacKey });
  }

  /** A token for a form in the current response; sets the cookie if the browser has none. */
  tokenFor(request: FastifyRequest, reply: FastifyReply, binding: string): string {
    let secret = this.cookies.get(request, COOKIE);
    if (!secret || !/^[A-Za-z0-9_-]{43}$/.test(secret)) {
      secret = this.tokens.secretSync();
      this.cookies.set(reply, COOKIE, secret);
      // Other forms of the same page must get the same secret.
      this.cookies.remember(request, COOKIE, secret);
    }
    return this.tokens.create(secret, binding);
  }

  /** Throws a 403 problem unless the form came from a page of this service with the same binding. */
  check(request: FastifyRequest, form: Form, binding: string): void {
    const { origin } = request.headers;
    const secret = this.cookies.get(request, COOKIE);
    const token = form.get(CSRF_FIELD);
    const fromHere = origin === undefined || origin === this.settings.baseUrl;
    if (!fromHere || !secret || !token || !this.tokens.verify(secret, token, binding)) {
      throw formExpired(
        'This form has expired or did not come from a page of this service. Go back, reload the page and try again.',
      );
    }
  }
}
