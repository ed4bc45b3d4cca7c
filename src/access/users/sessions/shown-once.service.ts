import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { Settings } from '#platform/config/settings.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { Cookies } from '#platform/http/server/cookies.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import type { SignedInUser } from './signed-in-user.js';

const SECONDS = 300;

/**
 * Carries a value from the form that created it (`showOnce`) to the page that shows it once. The database only has digests, so
 * the value is kept in a cookie: sealed, for this session and this page, for at most five minutes by the database's clock. Any instance
 * can show it.
 */
@Injectable()
export class ShownOnce {
  private readonly box: SealedBox;

  constructor(
    private readonly cookies: Cookies,
    private readonly changes: AccessChanges,
    settings: Settings,
  ) {
    this.box = new SealedBox('shown once', settings.encryptionKeys);
  }

  /** Stores a value for the page at this path. */
  keep(reply: FastifyReply, user: SignedInUser, path: string, value: unknown): void {
    const text = JSON.stringify({ value, until: this.changes.databaseNow + SECONDS * 1000 });
    const sealed = this.box.seal(text, bindingOf(user, path)).toString('base64url');
    this.cookies.set(reply, nameOf(path), sealed, SECONDS, 'strict');
  }

  /** Returns the value for the page and removes it; undefined if there is none. */
  take(request: FastifyRequest, reply: FastifyReply, user: SignedInUser, path: string): unknown {
    const sealed = this.cookies.get(request, nameOf(path));
    if (sealed === undefined) return undefined;
    this.cookies.clear(reply, nameOf(path));
    const text = this.box.open(Buffer.from(sealed, 'base64url'), bindingOf(user, path));
    if (text === undefined) return undefined;
    const { value, until } = JSON.parse(text) as { value: unknown; until: number };
    return until > this.changes.databaseNow ? value : undefined;
  }
}

/** One cookie per page, so that two values created at the same time do not overwrite each other. */
const nameOf = (path: string): string =>
  `shown_once_${createHash('sha256').update(path).digest('hex').slice(0, 16)}`;

const bindingOf = (user: SignedInUser, path: string): string =>
  `${path} ${user.id} ${user.sessionDigest.toString('base64url')}`;
