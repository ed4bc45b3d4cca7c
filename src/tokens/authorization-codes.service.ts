import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import { SERVICE_ACTOR, type Actor } from '../audit/audit.service.js';
import { Settings } from '../config/settings.js';
import { newId } from '../secrets/ids.js';
import { digestOf, isSecret, newSecret, sameDigest } from '../secrets/tokens.js';
import { AuthorizationCodesRepository, type NewAuthorizationCode } from './authorization-codes.repository.js';
import { GrantsService } from './grants.service.js';
import type { IssuedTokens } from './issued-tokens.js';

/** What a token request brings to exchange a code. */
export interface ExchangeRequest {
  code: string;
  clientId: string;
  redirectUri: string;
  codeVerifier: string | undefined;
}

/** Authorization codes: issued after consent, exchanged once. */
@Injectable()
export class AuthorizationCodesService {
  constructor(
    private readonly repository: AuthorizationCodesRepository,
    private readonly grants: GrantsService,
    private readonly settings: Settings,
  ) {}

  /** Holds client, user and session until the caller's transaction ends; false where one of them is no longer live. */
  hold(
    manager: EntityManager,
    clientId: string,
    user: { id: string; sessionDigest: Buffer },
  ): Promise<boolean> {
    return this.repository.hold(manager, clientId, user.id, user.sessionDigest);
  }

  /** Issues a code in the caller's transaction, which holds what it rests on. */
  async issue(manager: EntityManager, code: Omit<NewAuthorizationCode, 'digest' | 'ttl'>): Promise<string> {
    const secret = newSecret('authorizationCode');
    await this.repository.insert(manager, {
      ...code,
      digest: digestOf(secret),
      ttl: this.settings.authorizationCodeTtl,
    });
    return secret;
  }

  /**
   * Exchanges a code for the first tokens of a grant; undefined is `invalid_grant`. The order is contract §4's: whose
   * code, redirect URI, verifier, and only then is it consumed, so that a stolen code cannot spoil the real exchange.
   */
  async exchange(request: ExchangeRequest, actor: Actor): Promise<IssuedTokens | undefined> {
    if (!isSecret('authorizationCode', request.code)) return undefined;
    const codeDigest = digestOf(request.code);
    const code = await this.repository.find(codeDigest);
    // RFC 6749 §4.1.3: ensure that the code was issued to the authenticated client, that the redirect URI is identical.
    if (!code || code.clientId !== request.clientId || code.redirectUri !== request.redirectUri)
      return undefined;
    if (!isVerified(code.codeChallenge, request.codeVerifier)) return undefined;
    // RFC 6749 §4.1.2: if a code is used more than once, SHOULD revoke all tokens previously issued based on that code.
    if (code.grantId !== null) return this.endReplayed(code.grantId, actor);
    if (code.expired) return undefined;
    const tokens = { accessToken: newSecret('accessToken'), refreshToken: newSecret('refreshToken') };
    const { accessTokenTtl, refreshTokenTtl, grantTtl } = this.settings;
    const scopes = await this.repository.exchange({
      codeDigest,
      grantId: newId('grnt'),
      accessDigest: digestOf(tokens.accessToken),
      refreshDigest: digestOf(tokens.refreshToken),
      accessTtl: accessTokenTtl,
      refreshTtl: refreshTokenTtl,
      grantTtl,
    });
    if (scopes) return { ...tokens, scopes, expiresIn: Math.min(accessTokenTtl, grantTtl) };
    // Somebody else consumed the code between the look and the write: this was its second use.
    const grantId = (await this.repository.find(codeDigest))?.grantId;
    return grantId ? this.endReplayed(grantId, actor) : undefined;
  }

  private async endReplayed(grantId: string, actor: Actor): Promise<undefined> {
    const { address, requestId } = actor;
    await this.grants.revokeIfLive(grantId, 'code_replayed', { ...SERVICE_ACTOR, address, requestId });
    return undefined;
  }
}

/** RFC 7636 §4.6 with S256; a verifier without a challenge having been made is refused too (downgrade). */
function isVerified(challenge: string | null, verifier: string | undefined): boolean {
  if (challenge === null || verifier === undefined) return challenge === null && verifier === undefined;
  const digest = createHash('sha256').update(verifier, 'ascii').digest('base64url');
  return sameDigest(Buffer.from(digest), Buffer.from(challenge));
}
