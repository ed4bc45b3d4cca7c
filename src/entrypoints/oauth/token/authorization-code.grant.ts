import { Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { SERVICE_ACTOR, type Actor } from '#records/audit/audit.service.js';
import { isSecret, sameDigest } from '#platform/secrets/tokens.js';
import { AuthorizationCodesService } from '#access/tokens/codes/authorization-codes.service.js';
import { GrantsService } from '#access/tokens/grants/grants.service.js';
import type { IssuedTokens } from '#access/tokens/grants/grant.js';
import { invalidRequest, type OAuthError } from '../oauth-error.js';
import { requireKey } from '../proofs.js';
import { invalidGrant, unexpectedVerifier } from '../refusals.js';
import { RequestedResources } from '../resources/requested-resources.service.js';
import type { GrantRequest, TokenGrant } from './grant-request.js';

// RFC 7636 §4.1: code-verifier = 43*128unreserved.
const CODE_VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** A code of another client gets the same description as one that does not exist. */
const unknown = (reason: 'code_unknown' | 'code_of_another_client'): OAuthError =>
  invalidGrant(reason, 'The code is unknown: it was not issued to this client, or it expired some time ago.');

const expired = (): OAuthError => invalidGrant('code_expired', 'The code has expired.');

const revoked = (): OAuthError => invalidGrant('code_revoked', 'The code was revoked.');

/**
 * RFC 6749 §4.1.3 with PKCE (RFC 7636): exchanges a code for the first tokens of a grant. The order is that of contract §4: client,
 * redirect URI, verifier, and only then is the code consumed, so that someone with a stolen code cannot spoil the real exchange.
 */
@Injectable()
export class AuthorizationCodeGrant implements TokenGrant {
  constructor(
    private readonly codes: AuthorizationCodesService,
    private readonly grants: GrantsService,
    private readonly resources: RequestedResources,
  ) {}

  async run({ client, form, actor, jkt }: GrantRequest): Promise<IssuedTokens> {
    const secret = form.get('code');
    const redirectUri = form.get('redirect_uri');
    const codeVerifier = form.get('code_verifier');
    if (secret === undefined) throw invalidRequest('The parameter code is required.');
    // RFC 6749 §4.1.3 requires it; OAuth 2.1 §4.1.3 does not, because PKCE prevents the same attacks.
    if (redirectUri === undefined && codeVerifier === undefined) {
      throw invalidRequest('The parameter redirect_uri is required.');
    }
    if (codeVerifier !== undefined && !CODE_VERIFIER.test(codeVerifier)) {
      throw invalidRequest('The code_verifier must be 43 to 128 unreserved characters.');
    }
    const resources = this.resources.in(form);
    if (!isSecret('authorizationCode', secret)) {
      throw invalidGrant('code_malformed', 'The code is malformed: it was truncated or changed in transit.');
    }
    const code = await this.codes.find(secret);
    if (!code) throw unknown('code_unknown');
    // RFC 6749 §4.1.3: ensure that the authorization code was issued to the authenticated client,
    if (code.clientId !== client.id) throw unknown('code_of_another_client');
    // and that the redirect URI is identical to the one of the authorization request.
    if (redirectUri !== undefined && code.redirectUri !== redirectUri) {
      throw invalidGrant(
        'redirect_uri_mismatch',
        'The code was issued for a different redirect_uri than the one in this request.',
      );
    }
    refuseWrongVerifier(code.codeChallenge, codeVerifier);
    // RFC 9449 §10: the code is bound to the key of the authorization request, too.
    if (code.dpopJkt !== null) requireKey(code.dpopJkt, jkt);
    // RFC 6749 §4.1.2: the client MUST NOT use the authorization code more than once.
    if (code.grantId !== null) throw await this.replayed(code.grantId, actor);
    if (code.expired) throw expired();
    if (resources) await this.resources.require(resources, code.resources);
    const grant = await this.codes.consume(secret, code, client.accessTokenLifetime, jkt ?? null, resources);
    if (!grant) throw await this.notConsumed(secret, actor);
    const tokens = await this.codes.firstTokens(grant);
    if (!tokens) throw revoked();
    return tokens;
  }

  /** Explains why the guarded write found nothing to consume. */
  private async notConsumed(secret: string, actor: Actor): Promise<OAuthError> {
    const code = await this.codes.find(secret);
    // Another request consumed the code between the read and the write: this was its second use.
    if (code?.grantId) return this.replayed(code.grantId, actor);
    // Otherwise it has expired, or client, user or consent has ended, usually together with the code.
    return code?.expired ? expired() : revoked();
  }

  /** RFC 6749 §4.1.2: the server SHOULD revoke (when possible) all tokens previously issued based on that authorization code. */
  private async replayed(grantId: string, { address, requestId }: Actor): Promise<OAuthError> {
    await this.grants.revokeIfLive(grantId, 'code_replayed', { ...SERVICE_ACTOR, address, requestId });
    return invalidGrant('code_used', 'The code was already used. Every token issued for it is revoked.');
  }
}

/** RFC 7636 §4.6 with S256: if the values are not equal, an error response indicating "invalid_grant" MUST be returned. */
function refuseWrongVerifier(challenge: string | null, verifier: string | undefined): void {
  if (challenge === null) {
    if (verifier === undefined) return;
    // RFC 9700 §4.8.2: a verifier without a challenge in the authorization request means a downgrade.
    throw unexpectedVerifier();
  }
  if (verifier === undefined) {
    throw invalidGrant(
      'verifier_missing',
      'The code was requested with a code_challenge, but the code_verifier is missing.',
    );
  }
  const digest = createHash('sha256').update(verifier, 'ascii').digest('base64url');
  if (!sameDigest(Buffer.from(digest), Buffer.from(challenge))) {
    throw invalidGrant('verifier_wrong', 'The code_verifier does not match the code_challenge of the code.');
  }
}
