import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { AuditService, changesBetween, type Actor } from '#records/audit/audit.service.js';
import { auditViewOf } from '#records/audit/audit-view.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { translationViolations } from './purposes/purpose-words.js';
import { conflict, notFound, validationFailed, type Problem } from '#platform/http/problems/problem.js';
import { say } from '#platform/language/text.js';
import { violation } from '#platform/http/problems/violation.js';
import { OPERATOR_SCOPES, ScopeEntity } from './scope.entity.js';
import { inOrder, translationsAfter } from './translations.js';
import { ScopesRepository, type ChangedMeaning, type ScopeInput } from './scopes.repository.js';

export type { ChangedMeaning };

/** A scope as it was read to be shown, and when its words last came to mean something else. */
export type ScopeMeaning = Pick<ScopeEntity, 'name' | 'meaningChangedAt'>;

type GivenScope = Omit<ScopeInput, 'translations'> & { translations?: object };

/** The scope catalogue: names, descriptions for users, and audiences. */
@Injectable()
export class ScopesService {
  constructor(
    private readonly repository: ScopesRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  /** All scopes, by name. */
  list(): Promise<ScopeEntity[]> {
    return this.repository.list();
  }

  /** The scopes with these names, ordered by name; unknown names are omitted. */
  async describe(names: string[]): Promise<ScopeEntity[]> {
    const found = await this.repository.findNamed(names);
    return names.flatMap((name) => found.filter((scope) => scope.name === name));
  }

  /** The scope; throws a 404 problem. */
  async get(name: string): Promise<ScopeEntity> {
    const scope = await this.repository.find(name);
    if (!scope) throw unknownScope();
    return scope;
  }

  /**
   * Creates or updates a scope. Its audience cannot change while a client holds it, or if it is one of this service's own
   * operator scopes (409), because the rules for such a client depend on it. Without `translations` those that are there stay,
   * unless the description changes: they would say something else. With `meaningChanged`, which needs another description (400),
   * users who agreed to it are asked again. With `unnumbered`, a new scope has this negative number until `giveNumbers`.
   */
  put(
    { translations, ...given }: GivenScope,
    actor: Actor,
    {
      meaningChanged = false,
      onlyNew = false,
      unnumbered,
    }: { meaningChanged?: boolean; onlyNew?: boolean; unnumbered?: number } = {},
  ): Promise<{ scope: ScopeEntity; created: boolean }> {
    return this.transactions.run(async () => {
      const violations = translations ? translationViolations(translations) : {};
      if (Object.keys(violations).length > 0) throw validationFailed(violations);
      const created = await this.repository.insertNew({ ...given, translations: {} }, unnumbered);
      const before = await this.repository.lock(given.name);
      // Deleted between the two statements.
      if (!before) throw conflict('The scope was deleted in the meantime. Try again.');
      const scope = { ...given, translations: translationsAfter(before, { ...given, translations }) };
      const isChanged = !isDeepStrictEqual(auditView(before), auditView({ ...before, ...scope }));
      // The same again is a form that was sent twice.
      if (onlyNew && !created && isChanged) throw validationFailed({ name: [violation('taken_name')] });
      if (before.audience !== scope.audience) await this.refuseNewAudience(scope.name);
      if (meaningChanged) refuseUnchanged(before, scope);
      if (isChanged) {
        await this.repository.update(scope);
      }
      if (meaningChanged) await this.repository.changeMeaning(scope.name);
      const after = (await this.repository.lock(scope.name))!;
      const difference = changesBetween(auditView(before), auditView(after));
      if (created || difference) {
        await this.audit.record(actor, {
          action: created ? 'scope.created' : 'scope.updated',
          subjectId: scope.name,
          ...(created ? { after: auditView(after) } : difference),
        });
      }
      return { scope: after, created };
    });
  }

  /** Gives new scopes their numbers, in the caller's transaction, once nothing can be refused any more: no number is given twice. */
  giveNumbers(): Promise<void> {
    return this.repository.giveNumbers();
  }

  /**
   * Removes a scope. Throws a 409 problem for one of this service's own operator scopes, and while a client
   * holds it or an event type needs it: no token and no consent has a scope that no client holds.
   */
  delete(name: string, actor: Actor): Promise<void> {
    return this.transactions.run(async () => {
      const scope = await this.repository.lock(name);
      if (!scope) throw unknownScope();
      if (OPERATOR_SCOPES.includes(name)) throw conflict('The service needs this scope.');
      if (await this.repository.isHeld(name)) {
        throw conflict('A client holds this scope, and its tokens and consents may.');
      }
      if (await this.repository.isNeeded(name)) throw conflict('An event type needs this scope.');
      await this.repository.delete(name);
      await this.audit.record(actor, {
        action: 'scope.deleted',
        subjectId: name,
        before: auditView(scope),
      });
    });
  }

  /** Reads the catalogue and locks it until the transaction ends. */
  listAndHold(): Promise<ScopeEntity[]> {
    return this.repository.listAndHold();
  }

  /** The scopes with these names, which stay as they are until the transaction ends. */
  hold(names: string[]): Promise<ScopeEntity[]> {
    return this.repository.holdNamed(names);
  }

  /** The scopes with these names, whose meaning stays as it is until the transaction ends. */
  holdMeanings(names: string[]): Promise<ScopeMeaning[]> {
    return this.repository.holdNamed(names);
  }

  /** Throws a 409 problem unless the scopes mean what they meant when they were read; that then stays until the transaction ends. */
  async requireMeanings(read: ScopeMeaning[]): Promise<void> {
    if (read.length === 0) return;
    const now = await this.repository.holdNamed(read.map(({ name }) => name));
    const isSame = ({ name, meaningChangedAt }: ScopeMeaning) =>
      now.some(
        (each) => each.name === name && each.meaningChangedAt?.getTime() === meaningChangedAt?.getTime(),
      );
    if (!read.every(isSame)) {
      throw conflict(
        say('What this page says has changed since you opened it. Please go back and read it again.'),
      );
    }
  }

  /** The changes of meaning for which not all users were asked again yet. */
  listChangedMeanings(): Promise<ChangedMeaning[]> {
    return this.repository.listChangedMeanings();
  }

  /** To be called before everyone is asked again because of this change. */
  beginWorkingOff(change: ChangedMeaning): Promise<void> {
    return this.repository.beginWorkingOff(change);
  }

  /** Records that everyone is asked again because of this change, unless a consent of before has come since that began. */
  noteWorkedOff(change: ChangedMeaning): Promise<void> {
    return this.repository.noteWorkedOff(change);
  }

  /** Has the users of consents asked that were given before a change and stored after it was worked off. */
  workOffAgain(names: string[], since: Date): Promise<void> {
    return this.repository.workOffAgain(names, since);
  }

  private async refuseNewAudience(name: string): Promise<void> {
    if (OPERATOR_SCOPES.includes(name))
      throw conflict('This scope is for operators; its audience cannot change.');
    if (await this.repository.isHeld(name)) {
      throw conflict('A client holds this scope, so its audience cannot change.');
    }
    if (await this.repository.isNeeded(name)) {
      throw conflict('An event type needs this scope, so its audience cannot change.');
    }
  }
}

/**
 * Users are only asked again if the words change, and only for partner scopes, because users do not consent to operator scopes.
 */
function refuseUnchanged(before: ScopeInput, after: ScopeInput): void {
  const wrong =
    after.audience === 'operator'
      ? 'words_of_operators'
      : before.description === after.description
        ? 'same_words'
        : undefined;
  if (wrong) throw validationFailed({ meaning_changed: [violation(wrong)] });
}

const unknownScope = (): Problem => notFound('There is no scope with this name.');

const auditView = auditViewOf(
  ScopeEntity,
  {
    name: 'name',
    description: 'description',
    translations: [
      'translations',
      (translations) => (Object.keys(translations).length > 0 ? inOrder(translations) : undefined),
    ],
    audience: 'audience',
    meaningChangedAt: ['meaning_changed_at', (changedAt) => changedAt?.toISOString()],
  },
  {
    number: 'assigned by the database, and never changes',
    meaningWorkedOffAt: 'follows from meaning_changed_at',
  },
);
