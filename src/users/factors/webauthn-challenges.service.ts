import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Cookies } from '../../http/server/cookies.js';
import { digestOf, isSecret, newSecret } from '../../secrets/tokens.js';
import { WebauthnChallengesRepository } from './webauthn-challenges.repository.js';

export const CHALLENGE_SECONDS = 300;

/**
 * Challenges of WebAuthn: derived from a secret in a cookie, so that only the browser that asked can answer, and used up by the
 * first answer.
 */
@Injectable()
export class WebauthnChallenges {
  constructor(
    private readonly cookies: Cookies,
    private readonly repository: WebauthnChallengesRepository,
  ) {}

  /** A challenge for the user who adds a passkey; null for a sign-in. */
  async make(reply: FastifyReply, userId: string | null): Promise<Uint8Array<ArrayBuffer>> {
    const secret = newSecret('passkeyChallenge');
    await this.repository.insert(digestOf(secret), userId, CHALLENGE_SECONDS);
    this.cookies.set(reply, cookieFor(userId), secret, CHALLENGE_SECONDS, 'strict');
    return new Uint8Array(challengeOf(secret));
  }

  /** The challenge that this browser has to answer, in base64url, which is used up by this; undefined if there is none. */
  async take(
    request: FastifyRequest,
    reply: FastifyReply,
    userId: string | null,
  ): Promise<string | undefined> {
    const secret = this.cookies.get(request, cookieFor(userId));
    if (!secret || !isSecret('passkeyChallenge', secret)) return undefined;
    this.cookies.clear(reply, cookieFor(userId));
    const isOpen = await this.repository.use(digestOf(secret), userId);
    return isOpen ? challengeOf(secret).toString('base64url') : undefined;
  }
}

const cookieFor = (userId: string | null): string => (userId === null ? 'passkey_sign_in' : 'passkey_new');

const challengeOf = (secret: string): Buffer => createHash('sha256').update(`challenge ${secret}`).digest();
