import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { newId } from '#platform/secrets/ids.js';
import { digestOf, newSecret } from '#platform/secrets/tokens.js';
import {
  AuthorizationCodesRepository,
  type FoundAuthorizationCode,
  type NewAuthorizationCode,
} from './authorization-codes.repository.js';
import { GrantTokens, type GrantOwner } from '../grants/grant-tokens.service.js';
import type { IssuedTokens } from '../grants/grant.js';
import type { GenerationRow } from '../refresh/refresh-tokens.repository.js';
import { TokenKeysService } from '../keys/token-keys.service.js';

/** The grant that a code was exchanged for. */
interface CodeGrant {
  owner: GrantOwner;
  row: GenerationRow;
}

/**
 * Authorization codes: issued after consent, found, consumed once. entrypoints/oauth/token/authorization-code.grant.ts
 * decides what each use means.
 */
@Injectable()
export class AuthorizationCodesService {
  constructor(
    private readonly repository: AuthorizationCodesRepository,
    private readonly tokens: GrantTokens,
    private readonly keys: TokenKeysService,
    private readonly changes: AccessChanges,
    private readonly settings: Settings,
  ) {}

  /** Locks client, user and session until the caller's transaction ends; false if one of them is no longer active. */
  hold(clientId: string, user: { id: string; sessionDigest: Buffer }): Promise<boolean> {
    return this.repository.hold(clientId, user.id, user.sessionDigest);
  }

  /** The same for a driver of the client's sandbox, who has no session. */
  holdDriver(clientId: string, userId: string): Promise<boolean> {
    return this.repository.holdDriver(clientId, userId);
  }

  /** Issues a code in the caller's transaction, which must hold the locks of `hold`. */
  async issue(code: Omit<NewAuthorizationCode, 'digest' | 'ttl'>): Promise<string> {
    const secret = newSecret('authorizationCode');
    await this.repository.insert({
      ...code,
      digest: digestOf(secret),
      ttl: this.settings.authorizationCodeTtl,
    });
    return secret;
  }

  find(secret: string): Promise<FoundAuthorizationCode | undefined> {
    return this.repository.find(digestOf(secret));
  }

  /**
   * Consumes a code and creates its grant; undefined if the code was consumed or expired since it was found, or client, user or
   * consent ended. What the tokens need is read first: a read that fails leaves the code usable. `accessTokenLifetime`: of the client; `jkt`: the
   * thumbprint of the key that the tokens are bound to; `resources`: of the token request, which are all that the grant is for if the
   * code named none.
   */
  async consume(
    secret: string,
    { scopes }: FoundAuthorizationCode,
    accessTokenLifetime: number | null = null,
    jkt: string | null = null,
    resources: string[] | null = null,
  ): Promise<CodeGrant | undefined> {
    const { accessTokenTtl, refreshTokenTtl: refreshTtl, grantTtl } = this.settings;
    const accessTtl = accessTokenLifetime ?? accessTokenTtl;
    const grantId = newId('grnt');
    const { era } = this.changes;
    const { id: keyId } = await this.keys.signing();
    await this.tokens.prepare(scopes);
    const codeDigest = digestOf(secret);
    const row = await this.repository.exchange({
      codeDigest,
      grantId,
      keyId,
      era,
      resources,
      accessTtl,
      refreshTtl,
      grantTtl,
      jkt,
    });
    return row && { owner: { grantId, clientId: row.clientId, userId: row.userId }, row };
  }

  /** The tokens of a new grant; undefined if their key is not available. */
  firstTokens({ owner, row }: CodeGrant): Promise<IssuedTokens | undefined> {
    return this.tokens.pairOf(owner, row, Math.floor((row.expiresAt - row.issuedAt) / 1000));
  }
}
