import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import type { EntityManager } from 'typeorm';
import type { TokenRefusal } from '../activity/activity.js';
import { SERVICE_ACTOR, type Actor } from '../audit/audit.service.js';
import { Settings } from '../config/settings.js';
import { AccessChanges } from '../database/access-changes.service.js';
import { newId } from '../secrets/ids.js';
import { digestOf, isSecret, newSecret, sameDigest } from '../secrets/tokens.js';
import { AuthorizationCodesRepository, type NewAuthorizationCode } from './authorization-codes.repository.js';
import { GrantTokens } from './grant-tokens.service.js';
import { GrantsService } from './grants.service.js';
import type { IssuedTokens } from './issued-tokens.js';
import { TokenKeysService } from './token-keys.service.js';

/** What a token request sends to exchange a code. */
interface ExchangeRequest {
  code: string;
  clientId: string;
  redirectUri: string;
  codeVerifier: string | undefined;
}

/** Why a code was not exchanged. */
type CodeRefusal = Extract<TokenRefusal, `code_${string}` | `verifier_${string}` | 'redirect_uri_mismatch'>;
type ExchangeResult = IssuedTokens | { refused: CodeRefusal };

const refuse = (refused: CodeRefusal) => ({ refused });

/** Authorization codes: issued after consent, exchanged once. */
@Injectable()
export class AuthorizationCodesService {
  constructor(
    private readonly repository: AuthorizationCodesRepository,
    private readonly grants: GrantsService,
    private readonly tokens: GrantTokens,
    private readonly keys: TokenKeysService,
    private readonly changes: AccessChanges,
    private readonly settings: Settings,
  ) {}

  /** Locks client, user and session until the caller's transaction ends; false if one of them is no longer live. */
  hold(
    manager: EntityManager,
    clientId: string,
    user: { id: string; sessionDigest: Buffer },
  ): Promise<boolean> {
    return this.repository.hold(manager, clientId, user.id, user.sessionDigest);
  }

  /** Issues a code in the caller's transaction, which must hold the locks of `hold`. */
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
   * Exchanges a code for the first tokens of a grant, or returns the reason for a refusal, which only the code's own client may
   * be told. The order is that of contract §4: client, redirect URI, verifier, and only then is the code consumed, so that a
   * stolen code cannot spoil the real exchange.
   */
  async exchange(request: ExchangeRequest, actor: Actor): Promise<ExchangeResult> {
    if (!isSecret('authorizationCode', request.code)) return refuse('code_malformed');
    const codeDigest = digestOf(request.code);
    const code = await this.repository.find(codeDigest);
    if (!code) return refuse('code_unknown');
    // RFC 6749 §4.1.3: ensure that the code was issued to the authenticated client, that the redirect URI is identical.
    if (code.clientId !== request.clientId) return refuse('code_of_another_client');
    if (code.redirectUri !== request.redirectUri) return refuse('redirect_uri_mismatch');
    const unverified = verifierRefusal(code.codeChallenge, request.codeVerifier);
    if (unverified) return refuse(unverified);
    // RFC 6749 §4.1.2: if a code is used more than once, SHOULD revoke all tokens previously issued based on that code.
    if (code.grantId !== null) return this.endReplayed(code.grantId, actor);
    if (code.expired) return refuse('code_expired');
    const { accessTokenTtl, refreshTokenTtl, grantTtl } = this.settings;
    const grantId = newId('grnt');
    const { era } = this.changes;
    const row = await this.repository.exchange({
      codeDigest,
      grantId,
      keyId: (await this.keys.signing()).id,
      era,
      accessTtl: accessTokenTtl,
      refreshTtl: refreshTokenTtl,
      grantTtl,
    });
    if (row) {
      const owner = { grantId, clientId: code.clientId, userId: row.userId };
      const tokens = await this.tokens.pairOf(owner, row, Math.min(accessTokenTtl, grantTtl));
      return tokens ?? refuse('code_revoked');
    }
    return this.refuseConsumed(codeDigest, actor);
  }

  /** Why the guarded write found nothing to consume. */
  private async refuseConsumed(codeDigest: Buffer, actor: Actor): Promise<{ refused: CodeRefusal }> {
    const code = await this.repository.find(codeDigest);
    // Another request consumed the code between the read and the write: this was its second use.
    if (code?.grantId) return this.endReplayed(code.grantId, actor);
    // Otherwise it expired, or client, user or consent ended meanwhile, usually together with the code.
    return refuse(code?.expired ? 'code_expired' : 'code_revoked');
  }

  private async endReplayed(grantId: string, actor: Actor): Promise<{ refused: CodeRefusal }> {
    const { address, requestId } = actor;
    await this.grants.revokeIfLive(grantId, 'code_replayed', { ...SERVICE_ACTOR, address, requestId });
    return refuse('code_used');
  }
}

/** RFC 7636 §4.6 with S256. A verifier without a challenge is refused too (downgrade). */
function verifierRefusal(challenge: string | null, verifier: string | undefined): CodeRefusal | undefined {
  if (challenge === null) return verifier === undefined ? undefined : 'verifier_unexpected';
  if (verifier === undefined) return 'verifier_missing';
  const digest = createHash('sha256').update(verifier, 'ascii').digest('base64url');
  return sameDigest(Buffer.from(digest), Buffer.from(challenge)) ? undefined : 'verifier_wrong';
}
