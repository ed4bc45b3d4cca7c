import { Injectable } from '@nestjs/common';
import { createHash, randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '#platform/config/settings.js';
import { Cookies } from '#platform/http/server/cookies.js';
import { Signer } from '#platform/secrets/signer.js';
import { emailKeyOf } from '../accounts/email.js';
import type { UserEntity } from '../accounts/user.entity.js';
import { UsersRepository } from '../accounts/users.repository.js';

const COOKIE = 'known_browser';
const COOKIE_SECONDS = 365 * 86_400;
// People who share a browser, or have several accounts: about 110 characters each.
const ACCOUNTS_MAX = 5;
const SEPARATOR = '~';

/** A browser that logged in to an account before, with the password of that time. */
export interface MarkedBrowser {
  id: string;
  /** A keyed tag of the password, which reveals nothing to a reader of the cookie. */
  passwordTag: string;
}

/**
 * Marks browsers that logged in to an account: a cookie with marks for the last five, each bound to the account and its password, so
 * that someone with an earlier password counts as a stranger again.
 */
@Injectable()
export class KnownBrowsersService {
  private readonly signer: Signer;

  constructor(
    private readonly cookies: Cookies,
    private readonly users: UsersRepository,
    settings: Settings,
  ) {
    this.signer = new Signer('known browsers', settings.encryptionKeys);
  }

  /** The browser named by the cookie, if this service issued it for this account; costs no query. */
  marked(request: FastifyRequest, email: string): MarkedBrowser | undefined {
    for (const mark of this.marksIn(request)) {
      const browser = this.browserOf(mark, email);
      if (browser) return browser;
    }
    return undefined;
  }

  /** The newest first. */
  private marksIn(request: FastifyRequest): string[] {
    return this.cookies.get(request, COOKIE)?.split(SEPARATOR, ACCOUNTS_MAX) ?? [];
  }

  /** The browser of a mark, if this service made it for this account. */
  private browserOf(mark: string, email: string): MarkedBrowser | undefined {
    const [id, passwordTag, mac, more] = mark.split('.');
    if (!id || !passwordTag || !mac || more !== undefined) return undefined;
    const browser = { id, passwordTag };
    return this.signer.verify(markOf(email, browser), mac) ? browser : undefined;
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

  /**
   * Marks the browser as known for the account with its present password; does nothing if it already has that mark, made with the
   * current key.
   */
  remember(request: FastifyRequest, reply: FastifyReply, user: UserEntity): void {
    const passwordTag = this.signer.sign(passwordOf(user));
    if (this.marked(request, user.email)?.passwordTag === passwordTag) return;
    const browser = { id: randomBytes(16).toString('base64url'), passwordTag };
    const mac = this.signer.sign(markOf(user.email, browser));
    const others = this.marksIn(request).filter((mark) => !this.browserOf(mark, user.email));
    const marks = [`${browser.id}.${passwordTag}.${mac}`, ...others].slice(0, ACCOUNTS_MAX);
    this.cookies.set(reply, COOKIE, marks.join(SEPARATOR), COOKIE_SECONDS);
  }

  private isMarkedFor({ passwordTag }: MarkedBrowser, user: UserEntity): boolean {
    return this.signer.verify(passwordOf(user), passwordTag);
  }
}

const passwordOf = ({ passwordHash }: UserEntity): string => `password ${passwordHash}`;

const markOf = (email: string, { id, passwordTag }: MarkedBrowser): string =>
  `browser ${accountDigest(email)} ${id} ${passwordTag}`;

/** Identifies an account where its email must not appear. */
export const accountDigest = (email: string): string =>
  createHash('sha256').update(emailKeyOf(email)).digest('base64url');
