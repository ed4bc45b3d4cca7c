import { Injectable } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ActivityService } from '#records/activity/activity.service.js';
import type { BearerRefusal, EventClient, Refusable } from '#records/activity/activity.js';
import { isWorking, type ClientWithSecrets } from '#access/clients/client-with-secrets.js';
import { KnownClientsService } from '#access/clients/known-clients.service.js';
import { upTo } from '#platform/config/cache-capacity.js';
import { Settings } from '#platform/config/settings.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { ChangeTrackedCache } from '#platform/database/changes/change-tracked-cache.js';
import { ScopeNumbersService } from '#access/scopes/scope-numbers.service.js';
import { AccessTokensRepository, type TokenBasis } from './access-tokens.repository.js';
import type { IssuedTokens } from '../grants/grant.js';
import { intersection, type Access, type Principal, type PrincipalClient } from './principal.js';
import type { TokenAdditions } from '../keys/token-additions.js';
import { TOKEN_KEYS_CHANGED, TokenKeysService } from '../keys/token-keys.service.js';
import {
  accessTokenId,
  openAccessToken,
  writeAccessToken,
  type AccessTokenRecord,
  type Opened,
} from '../keys/token-record.js';

// Cached answers for tokens whose dependencies changed after they were issued.
const CACHED_TOKENS = 20_000;
// Tokens whose tag was verified, so that one that is used again and again is not read anew each time.
const OPENED_TOKENS = { ...upTo(20_000), ttl: 60_000, ttlResolution: 1_000 };

/** The first reason why a token is refused; `client` only if it exists. */
interface Refusal {
  reason: BearerRefusal;
  client?: EventClient;
  /** Where the metadata are that help the client to a right token (RFC 9728 §5.1). */
  resourceMetadata?: string;
}

type Judgement = { principal: Principal } | Refusal;

/** What is cached of the things that a token depends on; undefined members are not cached, or have since changed. */
interface KnownState {
  client: ClientWithSecrets | undefined;
  scopes: readonly string[] | undefined;
  isKeyRevoked: boolean | undefined;
  /** The result of a query about the token, made since something it depends on changed. */
  basis: TokenBasis | undefined;
}

/**
 * Access tokens (docs/decisions/0012-tokens-without-rows.md): validated, issued for client credentials, and revoked individually.
 */
@Injectable()
export class AccessTokensService {
  private readonly judged: ChangeTrackedCache<TokenBasis>;
  private readonly opened = new LRUCache<string, { record: AccessTokenRecord }>(OPENED_TOKENS);

  constructor(
    private readonly repository: AccessTokensRepository,
    private readonly keys: TokenKeysService,
    private readonly clients: KnownClientsService,
    private readonly consents: ConsentsService,
    private readonly scopeNumbers: ScopeNumbersService,
    private readonly settings: Settings,
    private readonly activity: ActivityService,
    private readonly changes: AccessChanges,
  ) {
    this.judged = new ChangeTrackedCache(changes, CACHED_TOKENS);
  }

  /**
   * The caller with this token; undefined if the token is not ours, has expired, was revoked, is only for other resources (RFC 8707), or
   * something it depends on is gone.
   */
  async find(token: string): Promise<Principal | undefined> {
    const principal = await this.findForAnyone(token);
    return principal && isFor(this.settings.baseUrl, principal) ? principal : undefined;
  }

  /** The same, whatever resources the token is for. */
  async findForAnyone(token: string): Promise<Principal | undefined> {
    const judgement = await this.judge(token);
    return 'principal' in judgement ? judgement.principal : undefined;
  }

  /** Counts a token that `find` refused, and returns the reason, and the client of a genuine token. */
  async countRefusal(token: string, request: Refusable, isDpop: boolean): Promise<Refusal> {
    const judgement = await this.judge(token);
    const refusal: Refusal =
      'principal' in judgement ? refusalOf(judgement.principal, this.settings.baseUrl, isDpop) : judgement;
    const { reason, client } = refusal;
    this.activity.count({ kind: 'bearer_refused', detail: reason, client, request });
    return refusal;
  }

  /**
   * What a valid token may do with one user's data: nothing unless that user shares data with its client (contract §5). A token of
   * the user ends with the consent; one of the client itself goes on.
   */
  async accessTo(userId: string, principal: Principal): Promise<Access> {
    const { client, scopes, expiresAt } = principal;
    if (principal.userId !== undefined)
      return { scopes: principal.userId === userId ? scopes : [], expiresAt };
    const shared = await this.consents.findSharing(client.id, userId);
    return {
      scopes: intersection(scopes, shared?.scopes ?? []),
      expiresAt: new Date(Math.min(expiresAt.getTime(), shared?.expiresAt ?? Infinity)),
    };
  }

  /**
   * Issues a client-credentials token without a write, bound to the key with the thumbprint `jkt` if there is one; undefined if the client
   * or its owner is disabled, or it has operator scopes without an operator role. The token carries the client's epoch: revoking the client's tokens at the same moment raises
   * the epoch and so revokes this token too.
   */
  async issueForClient(
    clientId: string,
    scopes: string[],
    more: { jkt?: string | undefined; additions?: TokenAdditions | undefined } = {},
  ): Promise<IssuedTokens | undefined> {
    const known = await this.clients.findAt(clientId);
    if (!known || !isWorking(known.found) || !known.found.ownerEnabled) return undefined;
    const key = await this.keys.signing();
    const expiresIn = known.found.client.accessTokenLifetime ?? this.settings.accessTokenTtl;
    const issuedAt = Math.floor(known.now);
    const record: AccessTokenRecord = {
      kind: 'client',
      keyId: key.id,
      // Node.js draws the bytes of many UUIDs at once.
      id: randomUUID().replaceAll('-', ''),
      clientId,
      epoch: known.found.epoch,
      stamp: known.stamp,
      issuedAt,
      expiresAt: issuedAt + expiresIn * 1000,
      scopes: await this.scopeNumbers.of(scopes),
      ...more,
    };
    return { accessToken: writeAccessToken(record, key.secret), expiresIn, scopes };
  }

  /** Revokes a valid token of the client; false if not found. */
  async revoke(token: string, clientId: string): Promise<boolean> {
    const opened = await this.keys.open(token, openAccessToken);
    if ('refused' in opened || opened.record.clientId !== clientId) return false;
    const revoked = await this.repository.revoke(opened.record);
    if (revoked) await this.changes.catchUp();
    return revoked;
  }

  /** The caller with this token as of at most a minute ago; the token may have ended since. Never queries the database. */
  recall(token: string): Principal | undefined {
    const opened = this.openedBefore(token) ?? openAccessToken(token, (id) => this.keys.secretOf(id));
    if ('refused' in opened) return undefined;
    const { record } = opened;
    const judgement = this.judgeByState(record, {
      client: this.clients.recall(record.clientId),
      scopes: this.scopeNumbers.knownNamesOf(record.scopes),
      isKeyRevoked: this.keys.isKnownRevoked(record.keyId),
      basis: this.judged.recall(accessTokenId(record)),
    });
    return judgement && 'principal' in judgement ? judgement.principal : undefined;
  }

  private async judge(token: string): Promise<Judgement> {
    const opened = this.openedBefore(token) ?? (await this.open(token));
    if ('refused' in opened) {
      return { reason: opened.refused === 'malformed' ? 'token_malformed' : 'token_forged' };
    }
    const { record } = opened;
    return this.judgeFromCache(record) ?? (await this.judgeAfterCaching(record)) ?? this.ask(record);
  }

  private async open(token: string): Promise<Opened<AccessTokenRecord>> {
    const opened = await this.keys.open(token, openAccessToken);
    if (!('refused' in opened)) this.opened.set(token, opened);
    return opened;
  }

  /** A token that was opened at most a minute ago, as long as its key is known. Whether it is valid is judged each time. */
  private openedBefore(token: string): { record: AccessTokenRecord } | undefined {
    const opened = this.opened.get(token);
    return opened && this.keys.secretOf(opened.record.keyId) ? opened : undefined;
  }

  /** Validates from memory alone, without awaiting anything between the check for changes and the answer. */
  private judgeFromCache(
    record: AccessTokenRecord,
    scopes = this.scopeNumbers.knownNamesOf(record.scopes),
  ): Judgement | undefined {
    if (!this.changes.isTrusted) return undefined;
    return this.judgeByState(record, {
      client: this.clients.known(record.clientId),
      scopes,
      isKeyRevoked: this.keys.isKnownRevoked(record.keyId),
      basis: this.judged.get(accessTokenId(record)),
    });
  }

  /** The same after loading what all tokens share into memory: the client, the keys, the scopes. */
  private async judgeAfterCaching(record: AccessTokenRecord): Promise<Judgement | undefined> {
    if (!this.changes.isTrusted) return undefined;
    const scopes = await this.scopeNumbers.namesOf(record.scopes);
    await this.keys.isRevoked(record.keyId);
    await this.clients.find(record.clientId);
    return this.judgeFromCache(record, scopes);
  }

  /**
   * Everything was valid when the token was issued, so it is valid as long as nothing it depends on has changed. From memory, a
   * token can be accepted, or refused for a reason that no later change can undo. Otherwise returns undefined, and the database
   * is queried: a client that is disabled in the cache may have been enabled again before another instance issued the token.
   */
  private judgeByState(
    record: AccessTokenRecord,
    { client: known, scopes, isKeyRevoked, basis }: KnownState,
  ): Judgement | undefined {
    if (!known || !scopes || isKeyRevoked === undefined) return undefined;
    const { client } = known;
    if (isKeyRevoked) return { reason: 'token_key_revoked', client };
    const hasEnded = record.expiresAt <= this.changes.databaseNow;
    if (basis && !hasEnded) return toPrincipal(record, basis, scopes);
    if (
      !isWorking(known) ||
      (record.kind === 'client' && !(known.ownerEnabled && known.epoch === record.epoch))
    )
      return undefined;
    if (hasEnded) return { reason: 'token_expired', client };
    if (this.changes.hasChangedSince(record.stamp, dependsOn(record))) return undefined;
    if (!scopes.every((scope) => client.scopes.includes(scope))) return undefined;
    return { principal: principalOf(record, clientOf(known), scopes) };
  }

  /** Validates the token with one query by primary keys. The answer is cached until something it depends on changes again. */
  private async ask(record: AccessTokenRecord): Promise<Judgement> {
    let refused: TokenBasis | undefined;
    const basis = await this.judged.read(accessTokenId(record), async () => {
      const value = await this.repository.findBasis(record);
      if (value.refusal !== null) {
        refused = value;
        return undefined;
      }
      return {
        value,
        dependsOn: [...dependsOn(record), ...TOKEN_KEYS_CHANGED, record.clientId, value.ownerId],
        seconds: value.seconds,
      };
    });
    if (basis) return toPrincipal(record, basis, await this.scopeNumbers.namesOf(record.scopes));
    const { clientName, environment, refusal } = refused!;
    const client = clientName === null ? undefined : { id: record.clientId, environment };
    return { reason: refusal!, client };
  }
}

/** Whether the token is for this resource; without resources, it is for everybody. */
const isFor = (resource: string, { additions }: Principal): boolean =>
  additions?.aud === undefined || additions.aud.includes(resource);

/** Why a valid token was refused: it came with the wrong scheme, or is for others. Otherwise what it depends on was restored since. */
function refusalOf(principal: Principal, resource: string, isDpop: boolean): Refusal {
  const { jkt, client } = principal;
  if (jkt !== undefined && !isDpop) return { reason: 'token_bound', client };
  if (jkt === undefined && isDpop) return { reason: 'token_not_bound', client };
  if (isFor(resource, principal)) return { reason: 'token_unknown' };
  const resourceMetadata = `${resource}/.well-known/oauth-protected-resource`;
  return { reason: 'token_of_another_resource', client, resourceMetadata };
}

function toPrincipal(record: AccessTokenRecord, basis: TokenBasis, scopes: readonly string[]): Judgement {
  const {
    clientType: type,
    environment,
    ownerId,
    operatorRole,
    hasOperatorScope,
    rateLimit,
    webhooksEnabled,
  } = basis;
  const client = {
    id: record.clientId,
    type,
    environment,
    ownerId,
    operatorRole,
    hasOperatorScope,
    rateLimit,
    webhooksEnabled,
  };
  const limits = record.kind === 'user' ? [basis.clientScopes, basis.consentScopes!] : [basis.clientScopes];
  // The consent, and the grant with it, may have been given an earlier end since.
  const expiresAt = Math.min(record.expiresAt, basis.endsAt ?? Infinity);
  return { principal: principalOf(record, client, intersection(scopes, ...limits), expiresAt) };
}

/** The ids whose change can end a token or alter its rights. The client is not among them: its state is looked up anyway. */
const dependsOn = (record: AccessTokenRecord): string[] =>
  record.kind === 'client'
    ? [record.id]
    : [accessTokenId(record), record.grantId, record.userId, `${record.clientId} users`];

const clientOf = ({
  client,
  operatorRole,
  hasOperatorScope,
  webhooksEnabled,
}: ClientWithSecrets): PrincipalClient => ({
  id: client.id,
  type: client.type,
  environment: client.environment,
  ownerId: client.ownerId,
  operatorRole,
  hasOperatorScope,
  rateLimit: client.rateLimit,
  webhooksEnabled,
});

const principalOf = (
  record: AccessTokenRecord,
  client: PrincipalClient,
  scopes: readonly string[],
  expiresAt = record.expiresAt,
): Principal => ({
  client,
  ...(record.kind === 'user'
    ? { userId: record.userId, grantId: record.grantId, grantEndsAt: record.grantEndsAt }
    : { epoch: record.epoch }),
  jkt: record.jkt,
  scopes,
  additions: record.additions,
  issuedAt: new Date(record.issuedAt),
  expiresAt: new Date(expiresAt),
});
