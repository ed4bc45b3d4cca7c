import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Cookies } from '#platform/http/server/cookies.js';
import { USER_ID_PATTERN } from '#platform/secrets/ids.js';
import { digestOf, isSecret, newSecret } from '#platform/secrets/tokens.js';
import { WebauthnChallengesRepository } from './webauthn-challenges.repository.js';

/** The WebAuthn library, loaded at the first use: most instances start without anybody who has a passkey. */
export const webauthn = () => import('@simplewebauthn/server');

export const CHALLENGE_SECONDS = 300;
const SIGN_UP_COOKIE = 'passkey_sign_up';

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

  /** The challenge that this browser has to answer, in base64url, which is used up by this; undefined if not found. */
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

  /** A challenge for someone who signs up by this link, for a passkey of the account that is to get this id. */
  async makeForSignUp(reply: FastifyReply, link: Buffer, userId: string): Promise<Uint8Array<ArrayBuffer>> {
    const secret = newSecret('passkeyChallenge');
    await this.repository.insert(signUpDigest(secret, link, userId), null, CHALLENGE_SECONDS);
    this.cookies.set(reply, SIGN_UP_COOKIE, `${userId}.${secret}`, CHALLENGE_SECONDS, 'strict');
    return new Uint8Array(challengeOf(secret));
  }

  /** That challenge and the id, which are used up by this; undefined if this browser has none for this link. */
  async takeForSignUp(
    request: FastifyRequest,
    reply: FastifyReply,
    link: Buffer,
  ): Promise<{ challenge: string; userId: string } | undefined> {
    const [userId = '', secret = ''] = this.cookies.get(request, SIGN_UP_COOKIE)?.split('.') ?? [];
    if (!USER_ID_PATTERN.test(userId) || !isSecret('passkeyChallenge', secret)) return undefined;
    this.cookies.clear(reply, SIGN_UP_COOKIE);
    const isOpen = await this.repository.use(signUpDigest(secret, link, userId), null);
    return isOpen ? { challenge: challengeOf(secret).toString('base64url'), userId } : undefined;
  }
}

const cookieFor = (userId: string | null): string => (userId === null ? 'passkey_sign_in' : 'passkey_new');

const challengeOf = (secret: string): Buffer => createHash('sha256').update(`challenge ${secret}`).digest();

/** Of everything that the challenge is bound to, so that the browser cannot change any of it. */
const signUpDigest = (secret: string, link: Buffer, userId: string): Buffer =>
  createHash('sha256')
    .update(`sign-up ${secret} ${link.toString('base64url')} ${userId}`)
    .digest();
