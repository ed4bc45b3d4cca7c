import { say } from '#platform/language/text.js';
import { Injectable } from '@nestjs/common';
import { AuditService, changesBetween, type Actor } from '#records/audit/audit.service.js';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { clientNotFound, ClientsService } from '#access/clients/clients.service.js';
import { Settings } from '#platform/config/settings.js';
import { isForeignKeyViolation } from '#platform/database/queries/database-errors.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict, forbidden, notFound, validationFailed } from '#platform/http/problems/problem.js';
import { violation } from '#platform/http/problems/violation.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { ScopesService, type ScopeMeaning } from '#access/scopes/scopes.service.js';
import { realmOf } from '#access/users/accounts/environment.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import type { ConsentEntity } from './consent.entity.js';
import { ConsentsRepository, type ImportedConsent } from './consents.repository.js';
import { ConsentsService, auditView } from './consents.service.js';
import type { KeptWords } from './record/consent-words.js';
import { ConsentWordsRepository } from './record/consent-words.repository.js';

/** Consents that are given, on a page or elsewhere (contract §2). Every change is an audit event in its transaction. */
@Injectable()
export class ConsentApprovals {
  constructor(
    private readonly repository: ConsentsRepository,
    private readonly consents: ConsentsService,
    private readonly clients: ClientsService,
    private readonly scopes: ScopesService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly notifications: NotificationsService,
    private readonly events: DomainEvents,
    private readonly users: UsersService,
    private readonly protection: OperatorProtectionService,
    private readonly words: ConsentWordsRepository,
    private readonly settings: Settings,
  ) {}

  /**
   * A user's approval, in the caller's transaction: adds the given scopes, and removes optional ones that were shown and not
   * chosen. The words that the user saw are stored with it. Throws a 403 problem for a client that cannot receive consents, and a
   * 409 problem if the meaning has changed since the words were shown.
   */
  async approve(
    client: ClientEntity,
    userId: string,
    { scopes, declined = [], meanings, method, words }: Approval,
    actor: Actor,
  ): Promise<void> {
    refuseGatekeeper(client);
    const clientId = client.id;
    const before = await this.lockNotOver(clientId, userId);
    await this.scopes.requireMeanings(meanings);
    await this.words.keep(words);
    const expiryDays = this.expiryDaysOf(client);
    const pair = { clientId, userId, realm: realmOf(client) };
    const { purposes } = client;
    await this.repository.add(pair, { scopes, declined, purposes, method, expiryDays, words });
    const after = await this.recordChange(before, clientId, userId, actor);
    if (wentOn(before, after)) return;
    const message = MESSAGES.applicationConnected(client.name, client);
    await this.notifications.raise(userId, null, message, actor);
  }

  /**
   * Applies a later choice of the user: the consent then has exactly these scopes, and its time starts again. Throws a 404
   * problem without an active consent, and otherwise as `approve` does.
   */
  async choose(
    client: ClientEntity,
    userId: string,
    { scopes, meanings, words }: Choice,
    actor: Actor,
  ): Promise<void> {
    await this.transactions.run(async () => {
      refuseGatekeeper(await this.clients.hold(client.id));
      const before = await this.repository.lock(client.id, userId);
      await this.scopes.requireMeanings(meanings);
      await this.words.keep(words);
      const pair = { clientId: client.id, userId };
      const expiryDays = this.expiryDaysOf(client);
      const { purposes } = client;
      if (!(await this.repository.change(pair, { scopes, purposes, words, expiryDays }))) {
        throw notFound(say('This application is not connected to your account.'));
      }
      await this.recordChange(before, client.id, userId, actor);
    });
  }

  /** Days after which a consent to this client ends; null if only the user ends it. */
  expiryDaysOf({ consentExpiryDays }: Pick<ClientEntity, 'consentExpiryDays'>): number | null {
    return consentExpiryDays ?? this.settings.consentExpiryDays;
  }

  /**
   * Records a consent that was given elsewhere, for an operator: it replaces the earlier one, and the user is notified. Throws
   * 404 for an unknown client or user, 409 for a user of another environment or of another owner's sandbox, and 400 for a scope
   * that the client does not have or that users cannot give.
   */
  async record(
    clientId: string,
    userId: string,
    scopes: string[],
    evidence: string | null,
    actor: Actor,
  ): Promise<ConsentEntity> {
    return this.withWords(userId, async () => {
      const client = await this.clients.hold(clientId);
      if (client.gatekeeper) throw conflict(GATEKEEPER);
      await this.checkScopes(client.scopes, scopes);
      await this.protection.refuseOn(actor, userId);
      const before = await this.lockNotOver(clientId, userId);
      // A user who gave it elsewhere before the meaning changed is asked again.
      await this.scopes.holdMeanings(scopes);
      const pair = { clientId, userId, realm: realmOf(client) };
      const recordedBy = actor.id;
      const expiryDays = this.expiryDaysOf(client);
      const { purposes } = client;
      const given = { scopes, purposes, evidence, recordedBy, method: 'operator', expiryDays } as const;
      await this.repository.replace(pair, given);
      const consent = await this.recordChange(before, clientId, userId, actor);
      await this.notifications.raise(userId, clientId, MESSAGES.consentRecorded(client.name, client));
      return consent;
    });
  }

  /**
   * Imports a consent that was given in another system. An existing one with the same scopes and proof is left as it is, so that an
   * import can be repeated. Throws as `record` does, and a 409 problem if there is a different consent, or the user ended it after
   * this one was given. With `dryRun` it only says what it would do.
   */
  async import(consent: ImportedConsent, actor: Actor, dryRun: boolean): Promise<'imported' | 'unchanged'> {
    return this.withWords(consent.userId, () => this.importIn(consent, actor, dryRun));
  }

  /** The same in the caller's transaction. */
  async importIn(consent: ImportedConsent, actor: Actor, dryRun = false): Promise<'imported' | 'unchanged'> {
    const { clientId, userId, scopes, grantedAt, expiresAt, evidence } = consent;
    const client = await this.clients.hold(clientId);
    if (client.gatekeeper) throw conflict(GATEKEEPER);
    await this.checkScopes(client.scopes, scopes);
    const now = await this.repository.now();
    if (grantedAt > now) {
      throw validationFailed({ granted_at: [violation('in_the_future')] });
    }
    if (expiresAt && expiresAt <= now) {
      throw validationFailed({ expires_at: [violation('in_the_past')] });
    }
    const before = await this.repository.lockPair(clientId, userId);
    if (isLiveAt(now, before)) {
      const isSame = before.evidence === evidence && sameScopes(before.scopes, scopes);
      if (isSame && before.method === 'import') return 'unchanged';
      throw conflict('The user already consents to this client, in another way.');
    }
    // One that is over and that nobody has ended yet ended when its time was over.
    const endedAt = before && (before.revokedAt ?? before.expiresAt);
    if (endedAt && endedAt > grantedAt) throw conflict(ENDED_SINCE);
    if (dryRun) {
      await this.users.get(userId);
      return 'imported';
    }
    if (before?.revokedAt === null) await this.consents.expireLocked(before);
    await this.scopes.holdMeanings(scopes);
    const pair = { clientId, userId, realm: realmOf(client) };
    if (!(await this.repository.import(pair, consent, actor.id))) throw conflict(ENDED_SINCE);
    await this.scopes.workOffAgain(scopes, grantedAt);
    await this.recordChange(before, clientId, userId, actor);
    return 'imported';
  }

  /**
   * Locks the consent of this user to this client. One whose time is over ends now, if nobody has ended it yet: what the user agrees to
   * next is a new consent, with other times and without the grants of the former one.
   */
  private async lockNotOver(clientId: string, userId: string): Promise<ConsentEntity | null> {
    const found = await this.repository.lockPair(clientId, userId);
    if (!found || found.revokedAt !== null || found.expiresAt === null) return found;
    if (!(await this.consents.expireLocked(found))) return found;
    return this.repository.lock(clientId, userId);
  }

  /** Runs a transaction that stores a consent, and turns constraint violations into problems. */
  private async withWords<Result>(userId: string, store: () => Promise<Result>): Promise<Result> {
    try {
      return await this.transactions.run(store);
    } catch (error) {
      if (isForeignKeyViolation(error, 'consents_user_id_fkey')) {
        throw notFound('There is no user with this id.');
      }
      // The client may have been deleted since it was read; PostgreSQL chose this name.
      if (
        ['consents_client_id_fkey', 'consents_client_realm_fkey'].some((key) =>
          isForeignKeyViolation(error, key),
        )
      ) {
        throw clientNotFound();
      }
      if (isForeignKeyViolation(error, 'consents_user_realm_fkey')) {
        await this.users.get(userId);
        throw conflict(
          'The client and the user are not in the same environment, or in sandboxes of different owners.',
        );
      }
      throw error;
    }
  }

  private async checkScopes(allowed: string[], scopes: string[]): Promise<void> {
    const known = await this.scopes.describe(scopes);
    const wrong = scopes.flatMap((name, index) => {
      const audience = known.find((scope) => scope.name === name)?.audience;
      return allowed.includes(name) && audience === 'partner' ? [] : [index + 1];
    });
    if (wrong.length > 0) {
      throw validationFailed({
        scopes: wrong.map((place) => violation('not_grantable_scope', { place })),
      });
    }
  }

  private async recordChange(
    before: ConsentEntity | null,
    clientId: string,
    userId: string,
    actor: Actor,
  ): Promise<ConsentEntity> {
    const after = (await this.repository.findLive(clientId, userId))!;
    const live = wentOn(before, after);
    const difference = live ? changesBetween(auditView(before), auditView(after)) : undefined;
    if (!live || difference) {
      await this.audit.record(actor, {
        action: live ? 'consent.updated' : 'consent.granted',
        subjectId: userId,
        ...(live ? { before: auditView(before) } : {}),
        after: auditView(after),
      });
    }
    const kind = changeOf(live ? before : null, after);
    if (kind) {
      const { scopes, expiresAt } = after;
      const { requestId } = actor;
      await this.events.say('consents.changed', [{ kind, clientId, userId, scopes, expiresAt, requestId }]);
    }
    return after;
  }
}

/** What the user agrees to on a consent page. */
export interface Approval {
  scopes: string[];
  /** Optional scopes that were shown and not chosen. */
  declined?: string[];
  /** Of the scopes that were shown. */
  meanings: ScopeMeaning[];
  method: 'page' | 'sandbox';
  /** What the user saw. */
  words: KeptWords;
}

/** What the user chooses on the account page. */
export interface Choice {
  scopes: string[];
  /** Of the scopes that were shown. */
  meanings: ScopeMeaning[];
  words: KeptWords;
}

const ENDED_SINCE = 'The consent ended after it was given: it is not brought back.';

const GATEKEEPER =
  'This client is a gatekeeper under the Digital Markets Act, so users cannot share data with it (Data Act, Article 5(3)).';

function refuseGatekeeper({ gatekeeper }: ClientEntity): void {
  if (gatekeeper) {
    throw forbidden(
      say(
        'This application belongs to a gatekeeper under the Digital Markets Act, so no data can be shared with it.',
      ),
    );
  }
}

/** `now` is the database's: an instance's own clock may be wrong. */
const isLiveAt = (now: Date, consent: ConsentEntity | null): consent is ConsentEntity & { revokedAt: null } =>
  consent !== null && consent.revokedAt === null && (consent.expiresAt === null || consent.expiresAt > now);

/** Whether the consent was live when it was changed: the statement that changed it has then kept its beginning. */
const wentOn = (before: ConsentEntity | null, after: ConsentEntity): before is ConsentEntity =>
  before !== null && before.revokedAt === null && before.grantedAt.getTime() === after.grantedAt.getTime();

const sameScopes = (one: string[], other: string[]): boolean =>
  one.length === other.length && one.every((scope) => other.includes(scope));

/** The event about a change; undefined if there is none. `before` is null for a new consent. */
function changeOf(before: ConsentEntity | null, after: ConsentEntity): 'granted' | 'changed' | undefined {
  if (!before || after.scopes.some((scope) => !before.scopes.includes(scope))) return 'granted';
  // A replacement by an operator has always been reported as `granted`.
  if (before.scopes.length !== after.scopes.length)
    return after.method === 'operator' ? 'granted' : 'changed';
  return before.expiresAt?.getTime() === after.expiresAt?.getTime() ? undefined : 'changed';
}
