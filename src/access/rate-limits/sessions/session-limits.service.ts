import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { upTo } from '#platform/config/cache-capacity.js';
import type { SessionHolder, SessionLimits } from '#platform/http/guards/session-limits.js';
import { digestOf, isSecret, type SecretKind } from '#platform/secrets/tokens.js';
import { RateLimitsService } from '../rate-limits.service.js';

const KNOWN_MAX = 100_000;
/** An ended session counts for its holder no longer than this. */
const KNOWN_MS = 60_000;
const KINDS: SecretKind[] = ['session', 'linkSession', 'memberSession'];

/** Counts requests with a session for its account, or for the client whose portal a one-time link opened (contract §7). */
@Injectable()
export class SessionLimitsService implements SessionLimits {
  /** Whose the sessions are that were looked up here, by the digests of their ids. */
  private readonly holders = new LRUCache<string, SessionHolder>({ ...upTo(KNOWN_MAX), ttl: KNOWN_MS });

  constructor(private readonly limits: RateLimitsService) {}

  countKnown(request: FastifyRequest): Promise<void> | undefined {
    const holders = Object.values(request.cookies ?? {}).flatMap((value) => this.holderOf(value) ?? []);
    return holders.length === 0 ? undefined : this.countAll(request, holders);
  }

  async countFound(request: FastifyRequest, digest: Buffer, holder: SessionHolder): Promise<void> {
    this.holders.set(keyOf(digest), holder);
    await this.countAll(request, [holder]);
  }

  private holderOf(secret: string | undefined): SessionHolder | undefined {
    if (secret === undefined || !KINDS.some((kind) => isSecret(kind, secret))) return undefined;
    return this.holders.get(keyOf(digestOf(secret)));
  }

  private async countAll(request: FastifyRequest, holders: SessionHolder[]): Promise<void> {
    for (const holder of new Set(holders)) {
      const counted = (request.countedHolders ??= []);
      if (counted.includes(holder)) continue;
      counted.push(holder);
      await this.limits.countSessions(request, holder);
    }
  }
}

const keyOf = (digest: Buffer): string => digest.toString('base64url');
