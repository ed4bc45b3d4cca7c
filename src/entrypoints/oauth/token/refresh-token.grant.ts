import { Injectable } from '@nestjs/common';
import { SERVICE_ACTOR, type Actor } from '#records/audit/audit.service.js';
import type { KnownClient } from '#access/clients/client-with-secrets.js';
import { SandboxFaultsService } from '#access/sandbox-faults/sandbox-faults.service.js';
import { GrantsService } from '#access/tokens/grants/grants.service.js';
import type { IssuedTokens } from '#access/tokens/grants/grant.js';
import { intersection } from '#access/tokens/access/principal.js';
import { RefreshTokensService, type GrantOfToken } from '#access/tokens/refresh/refresh-tokens.service.js';
import type { RefreshTokenRecord } from '#access/tokens/keys/token-record.js';
import { invalidRequest, type OAuthError } from '../oauth-error.js';
import { requireKey } from '../proofs.js';
import {
  invalidGrant,
  malformedScope,
  scopeNotGranted,
  scopeOfAnotherRefresh,
  resourceOfAnotherRefresh,
} from '../refusals.js';
import { RequestedResources } from '../resources/requested-resources.service.js';
import { parseScope } from '../scope-parameter.js';
import type { GrantRequest, TokenGrant } from './grant-request.js';

/** A refresh token of another client gets the same description as one that does not exist. */
const unknownToken = (reason: 'refresh_token_unknown' | 'refresh_token_of_another_client'): OAuthError =>
  invalidGrant(
    reason,
    'The refresh token is unknown: it was not issued to this client, or it ended some time ago.',
  );

const malformed = (): OAuthError =>
  invalidGrant(
    'refresh_token_malformed',
    'The refresh token is malformed: it was truncated or changed in transit.',
  );

const revoked = (): OAuthError =>
  invalidGrant('refresh_token_revoked', 'The refresh token was revoked, with every token of its grant.');

/** A fault requested in the sandbox; the client gets the same answer as live. */
const sandboxFault = (): OAuthError =>
  invalidGrant('sandbox_fault', 'The refresh token was revoked, with every token of its grant.');

// Does not disclose why the user or the client ended.
const ended = (): OAuthError =>
  invalidGrant(
    'grant_ended',
    'The grant of the refresh token has ended: the user has to authorize the client again.',
  );

const used = (): OAuthError =>
  invalidGrant('refresh_token_used', 'The refresh token was already used: use the one that replaced it.');

/**
 * RFC 6749 §6, with rotation that a client can retry after a lost response (contract §4). Every use retires the token and returns a
 * successor pair. Within the grace time the retired token returns that same pair; after it, using the retired token revokes the
 * whole grant (docs/decisions/0001-refresh-safe-to-retry.md).
 */
@Injectable()
export class RefreshTokenGrant implements TokenGrant {
  constructor(
    private readonly refreshTokens: RefreshTokensService,
    private readonly grants: GrantsService,
    private readonly faults: SandboxFaultsService,
    private readonly resources: RequestedResources,
  ) {}

  async run({ client, form, actor, jkt }: GrantRequest): Promise<IssuedTokens> {
    const token = form.get('refresh_token');
    if (token === undefined) throw invalidRequest('The parameter refresh_token is required.');
    const scope = form.get('scope');
    const scopes = scope === undefined ? undefined : parseScope(scope);
    if (scope !== undefined && !scopes) throw malformedScope();
    const resources = this.resources.in(form);
    const opened = await this.refreshTokens.open(token);
    if ('refused' in opened) {
      throw opened.refused === 'malformed' ? malformed() : unknownToken('refresh_token_unknown');
    }
    // At most twice: a request that lost the rotation to a concurrent one finds the next generation on the second try.
    const request = { token, record: opened.record, client, scopes, resources, actor, jkt };
    const tokens = (await this.use(request)) ?? (await this.use(request));
    // The grant ended between the query and the rotation.
    if (!tokens) throw ended();
    return tokens;
  }

  /**
   * Decides what this use of the token is: the first, a retry, or a replay. Undefined if the grant changed before the rotation.
   * `scopes` are those asked for; undefined for everything granted.
   */
  private async use({
    token,
    record,
    client,
    scopes,
    resources,
    actor,
    jkt,
  }: RefreshRequest): Promise<IssuedTokens | undefined> {
    const grant = await this.refreshTokens.find(record);
    if (!grant) throw unknownToken('refresh_token_unknown');
    // RFC 6749 §6: the refresh token is bound to the client to which it was issued. Another client learns nothing and ends
    // nothing.
    if (grant.clientId !== client.id) throw unknownToken('refresh_token_of_another_client');
    if (grant.keyRevoked) throw revoked();
    // A generation that does not exist yet: the database was restored to an earlier time.
    if (record.generation > grant.generation) throw unknownToken('refresh_token_unknown');
    // RFC 9449 §5: refresh tokens of public clients are bound. Who does not have the key ends nothing.
    if (client.type === 'public' && grant.dpopJkt !== null) requireKey(grant.dpopJkt, jkt);
    const isRetired = record.generation < grant.generation;
    if (isRetired && !grant.inGrace) throw await this.revokeReplayed(record.grantId, actor);
    if (!grant.grantLive) throw grant.grantRevoked ? revoked() : ended();
    // RFC 6749 §6: the scope MUST NOT include any scope not originally granted by the resource owner.
    const beyond = scopes?.find((name) => !grant.grantScopes.includes(name));
    if (beyond !== undefined) throw scopeNotGranted(beyond);
    const asked = scopes ?? grant.grantScopes;
    if (resources) await this.resources.require(resources, grant.resources);
    if (isRetired) return this.successorAgain(record, grant, asked, resources, jkt);
    if (grant.expired) throw invalidGrant('refresh_token_expired', 'The refresh token has expired.');
    // RFC 6749 §6: if omitted, the scope is treated as equal to the scope originally granted; what the client or the consent no
    // longer has is left out.
    const given = intersection(asked, grant.clientScopes, grant.consentScopes);
    if (given.length === 0) {
      throw invalidGrant('consent_withdrawn', 'The user no longer consents to any of the requested scopes.');
    }
    if (
      client.environment === 'sandbox' &&
      (await this.faults.useForRefresh(client, record.grantId, actor))
    ) {
      throw sandboxFault();
    }
    const refreshed = { asked, given, resources, accessTokenLifetime: client.accessTokenLifetime, jkt };
    return client.securityProfile === 'fapi_2'
      ? this.refreshTokens.prolong(token, record, grant, refreshed)
      : this.refreshTokens.rotate(record, grant, refreshed);
  }

  /** The response was lost and the client retries: returns the same pair again, never a second one. */
  private async successorAgain(
    record: RefreshTokenRecord,
    grant: GrantOfToken,
    asked: string[],
    resources: string[] | undefined,
    jkt: string | undefined,
  ): Promise<IssuedTokens> {
    // A late duplicate: the client already has the successor, since it used it or revoked its access token.
    if (grant.generation > record.generation + 1 || grant.accessRevoked) throw used();
    // The pair is bound to one key, or to none: only the same request gets it again.
    requireKey(grant.dpopJkt ?? undefined, jkt);
    if (!sameItems(grant.asked, asked)) throw scopeOfAnotherRefresh();
    if (!sameItems(grant.additions?.aud ?? [], resources ?? grant.resources ?? [])) {
      throw resourceOfAnotherRefresh();
    }
    const tokens = await this.refreshTokens.currentPair(record.grantId, grant);
    if (!tokens) throw used();
    return tokens;
  }

  /** A retired token after its grace time: it or its successor was stolen, so the whole family of tokens is revoked. */
  private async revokeReplayed(grantId: string, { address, requestId }: Actor): Promise<OAuthError> {
    await this.grants.revokeIfLive(grantId, 'refresh_token_replayed', {
      ...SERVICE_ACTOR,
      address,
      requestId,
    });
    return invalidGrant(
      'refresh_token_replayed',
      'The refresh token was already used, too long ago for a retry. Every token of its grant is revoked.',
    );
  }
}

interface RefreshRequest {
  token: string;
  record: RefreshTokenRecord;
  client: KnownClient;
  scopes: string[] | undefined;
  /** Those asked for; undefined for all of the grant. */
  resources: string[] | undefined;
  actor: Actor;
  jkt: string | undefined;
}

const sameItems = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((item) => b.includes(item));
