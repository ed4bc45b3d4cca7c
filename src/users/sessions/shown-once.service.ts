import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash, hkdfSync } from 'node:crypto';
import { Settings } from '../../config/settings.js';
import { Cookies } from '../../http/server/cookies.js';
import { seal, unseal } from '../../secrets/seal.js';
import type { SignedInUser } from './signed-in-user.js';

const SECONDS = 300;

/**
 * Passes something that is shown once from the form that created it to the page that shows it. The database holds only digests,
 * so the value travels in the browser: sealed, for this session and this page, for at most five minutes. Any instance can show
 * it.
 */
@Injectable()
export class ShownOnce {
  private readonly keys: Buffer[];

  constructor(
    private readonly cookies: Cookies,
    settings: Settings,
  ) {
    this.keys = settings.encryptionKeys.map((key) =>
      Buffer.from(hkdfSync('sha256', key, '', 'shown once', 32)),
    );
  }

  /** Stores a value for the page at this path. */
  keep(reply: FastifyReply, user: SignedInUser, path: string, value: unknown): void {
    const text = JSON.stringify({ value, until: Date.now() + SECONDS * 1000 });
    const sealed = seal(this.keys[0]!, text, bindingOf(user, path)).toString('base64url');
    this.cookies.set(reply, nameOf(path), sealed, SECONDS, 'strict');
  }

  /** Takes the value stored for the page, which removes it; undefined if there is none. */
  take(request: FastifyRequest, reply: FastifyReply, user: SignedInUser, path: string): unknown {
    const sealed = this.cookies.get(request, nameOf(path));
    if (sealed === undefined) return undefined;
    this.cookies.clear(reply, nameOf(path));
    const bytes = Buffer.from(sealed, 'base64url');
    for (const key of this.keys) {
      const text = unseal(key, bytes, bindingOf(user, path));
      if (text === undefined) continue;
      const { value, until } = JSON.parse(text) as { value: unknown; until: number };
      return until > Date.now() ? value : undefined;
    }
    return undefined;
  }
}

/** One cookie per page, so that two values created at the same time do not overwrite each other. */
const nameOf = (path: string): string =>
  `shown_once_${createHash('sha256').update(path).digest('hex').slice(0, 16)}`;

const bindingOf = (user: SignedInUser, path: string): string =>
  `${path} ${user.id} ${user.sessionDigest.toString('base64url')}`;
