import { Injectable } from '@nestjs/common';
import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '../../config/settings.js';
import { Cookies } from '../../http/server/cookies.js';
import { emailKeyOf } from '../accounts/email.js';
import type { UserEntity } from '../accounts/user.entity.js';
import { UsersRepository } from '../accounts/users.repository.js';

const COOKIE = 'known_browser';
const COOKIE_SECONDS = 365 * 86_400;

/** A browser that logged in to an account before, with the password of that time. */
export interface MarkedBrowser {
  id: string;
  /** A keyed tag of the password, which reveals nothing to a reader of the cookie. */
  passwordTag: string;
}

/**
 * Marks browsers that logged in to an account: a cookie bound to the account and its password, so that somebody who knew an
 * earlier password counts as a stranger again.
 */
@Injectable()
export class KnownBrowsersService {
  private readonly key: Buffer;

  constructor(
    private readonly cookies: Cookies,
    private readonly users: UsersRepository,
    settings: Settings,
  ) {
    this.key = Buffer.from(hkdfSync('sha256', settings.encryptionKey, '', 'known browsers', 32));
  }

  /** The browser named by the cookie, if this service issued it for this account; costs no query. */
  marked(request: FastifyRequest, email: string): MarkedBrowser | undefined {
    const [id, passwordTag, mac, more] = this.cookies.get(request, COOKIE)?.split('.') ?? [];
    if (!id || !passwordTag || !mac || more !== undefined) return undefined;
    return isSame(mac, this.macOf(email, { id, passwordTag })) ? { id, passwordTag } : undefined;
  }

  /** Whether the account still has the password that the browser logged in with. */
  async isCurrent(browser: MarkedBrowser, email: string): Promise<boolean> {
    const user = await this.users.findByEmailWithPassword(email);
    return user !== null && this.isMarkedFor(browser, user);
  }

  /** Whether this browser logged in to the account as it was read, with its password; costs no query. */
  knows(request: FastifyRequest, user: UserEntity): boolean {
    const marked = this.marked(request, user.email);
    return marked !== undefined && this.isMarkedFor(marked, user);
  }

  /** Marks the browser for the account as it was read, with its password; does nothing if it already has that mark. */
  remember(request: FastifyRequest, reply: FastifyReply, user: UserEntity): void {
    if (this.knows(request, user)) return;
    const browser = {
      id: randomBytes(16).toString('base64url'),
      passwordTag: this.sign(`password ${user.passwordHash}`),
    };
    const value = `${browser.id}.${browser.passwordTag}.${this.macOf(user.email, browser)}`;
    this.cookies.set(reply, COOKIE, value, COOKIE_SECONDS);
  }

  private isMarkedFor({ passwordTag }: MarkedBrowser, user: UserEntity): boolean {
    return isSame(passwordTag, this.sign(`password ${user.passwordHash}`));
  }

  private macOf(email: string, { id, passwordTag }: MarkedBrowser): string {
    return this.sign(`browser ${accountDigest(email)} ${id} ${passwordTag}`);
  }

  private sign(text: string): string {
    return createHmac('sha256', this.key).update(text).digest('base64url');
  }
}

/** Identifies an account where its email must not appear. */
export const accountDigest = (email: string): string =>
  createHash('sha256').update(emailKeyOf(email)).digest('base64url');

function isSame(given: string, right: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
