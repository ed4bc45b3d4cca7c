import { Injectable } from '@nestjs/common';
import { SERVICE_ACTOR, type Actor } from '../audit/audit.service.js';
import { Settings } from '../config/settings.js';
import { seal, successorKey, unseal } from '../secrets/seal.js';
import { digestOf, isSecret, newSecret } from '../secrets/tokens.js';
import { GrantsService } from './grants.service.js';
import type { IssuedTokens } from './issued-tokens.js';
import { intersection } from './principal.js';
import { RefreshTokensRepository, type FoundRefreshToken } from './refresh-tokens.repository.js';

/** What came of a refresh. */
export type RefreshResult = IssuedTokens | { refused: 'invalid_grant' | 'invalid_scope' };

/** The successor pair as it is sealed for the grace time; `expiresAt` in milliseconds since 1970. */
interface Successor {
  accessToken: string;
  refreshToken: string;
  scopes: string[];
  /** The scopes that were asked for; the same request again must ask for the same. */
  asked: string[];
}

const REFUSED_GRANT = { refused: 'invalid_grant' } as const;
const REFUSED_SCOPE = { refused: 'invalid_scope' } as const;

/**
 * Rotates refresh tokens so that a lost answer can be asked for again (contract §4): every use retires the token and
 * gives a successor pair; for the grace time the retired token gives that same pair, and after it ends the whole grant.
 */
@Injectable()
export class RefreshRotationService {
  constructor(
    private readonly repository: RefreshTokensRepository,
    private readonly grants: GrantsService,
    private readonly settings: Settings,
  ) {}

  /** `scopes`: what the client asks for, narrower than the grant; undefined for all that was granted. */
  async refresh(
    token: string,
    clientId: string,
    scopes: string[] | undefined,
    actor: Actor,
  ): Promise<RefreshResult> {
    if (!isSecret('refreshToken', token)) return REFUSED_GRANT;
    const digest = digestOf(token);
    // Twice at the most: whoever lost the rotation to a simultaneous request finds its successor on the second look.
    for (let look = 1; look <= 2; look++) {
      const found = await this.repository.find(digest);
      // RFC 6749 §6: the refresh token is bound to the client to which it was issued. Another's learns nothing, ends nothing.
      if (!found || found.clientId !== clientId) return REFUSED_GRANT;
      if (found.retired && !found.inGrace) return this.endReplayed(found, actor);
      if (!found.grantLive) return REFUSED_GRANT;
      // RFC 6749 §6: the scope MUST NOT include any scope not originally granted by the resource owner.
      if (scopes?.some((scope) => !found.grantScopes.includes(scope))) return REFUSED_SCOPE;
      const asked = scopes ?? found.grantScopes;
      if (found.retired) return this.successorAgain(token, digest, found, asked);
      if (found.expired) return REFUSED_GRANT;
      // What was granted has since been taken from the consent: only the user can give it anew.
      const given = intersection(asked, found.clientScopes, found.consentScopes);
      if (given.length === 0) return REFUSED_GRANT;
      const issued = await this.rotate(token, digest, found, asked, given);
      if (issued) return issued;
    }
    return REFUSED_GRANT;
  }

  private async rotate(
    token: string,
    digest: Buffer,
    found: FoundRefreshToken,
    asked: string[],
    scopes: string[],
  ): Promise<IssuedTokens | undefined> {
    const { accessTokenTtl, refreshTokenTtl, refreshGrace, encryptionKey } = this.settings;
    const successor: Successor = {
      accessToken: newSecret('accessToken'),
      refreshToken: newSecret('refreshToken'),
      scopes,
      asked,
    };
    const expiresIn = await this.repository.rotate({
      retiredDigest: digest,
      grantId: found.grantId,
      clientId: found.clientId,
      refreshDigest: digestOf(successor.refreshToken),
      accessDigest: digestOf(successor.accessToken),
      sealedSuccessor: seal(
        successorKey(token, encryptionKey),
        JSON.stringify(successor),
        associatedData(digest, found),
      ),
      scopes,
      refreshTtl: refreshTokenTtl,
      accessTtl: accessTokenTtl,
      grace: refreshGrace,
    });
    if (expiresIn === undefined) return undefined;
    const { accessToken, refreshToken } = successor;
    return { accessToken, refreshToken, scopes, expiresIn };
  }

  /** The answer was lost, and the client repeats its request: the same pair again, never a second one. */
  private successorAgain(
    token: string,
    digest: Buffer,
    found: FoundRefreshToken,
    asked: string[],
  ): RefreshResult {
    // A late duplicate: the client has the successor, for it has used it.
    if (found.successorUsed || !found.sealedSuccessor) return REFUSED_GRANT;
    const successor = this.open(token, digest, found);
    if (!successor) return REFUSED_GRANT;
    if (!sameScopes(successor.asked, asked)) return REFUSED_SCOPE;
    const { accessToken, refreshToken, scopes } = successor;
    return {
      accessToken,
      refreshToken,
      scopes,
      expiresIn: found.successorExpiresIn,
    };
  }

  private open(token: string, digest: Buffer, found: FoundRefreshToken): Successor | undefined {
    for (const key of this.settings.encryptionKeys) {
      const text = unseal(successorKey(token, key), found.sealedSuccessor!, associatedData(digest, found));
      if (text !== undefined) return JSON.parse(text) as Successor;
    }
    return undefined;
  }

  /** A retired token after its grace time: it or its successor is in the wrong hands, so the whole family ends. */
  private async endReplayed(found: FoundRefreshToken, actor: Actor): Promise<RefreshResult> {
    await this.grants.revokeIfLive(found.grantId, 'refresh_token_replayed', {
      ...SERVICE_ACTOR,
      address: actor.address,
      requestId: actor.requestId,
    });
    return REFUSED_GRANT;
  }
}

/** The sealed pair opens for its own row, grant and client alone. */
const associatedData = (digest: Buffer, found: FoundRefreshToken): string =>
  [digest.toString('base64url'), found.grantId, found.clientId].join(' ');

const sameScopes = (a: string[], b: string[]): boolean =>
  a.length === b.length && a.every((scope) => b.includes(scope));
