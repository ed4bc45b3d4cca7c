import { LANGUAGES } from '#platform/language/languages.js';
import { Injectable } from '@nestjs/common';
import { violation } from '#platform/http/problems/violation.js';
import { AuditService, changesBetween, type Actor } from '#records/audit/audit.service.js';
import { auditViewOf } from '#records/audit/audit-view.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { conflict, notFound, validationFailed, type Problem } from '#platform/http/problems/problem.js';
import { PurposeEntity, purposeWordsIn, type PurposeWords } from './purpose.entity.js';
import { purposeViolations } from './purpose-words.js';
import { PurposesRepository } from './purposes.repository.js';

/** The catalogue of purposes: what clients want data for, in words for users (contract §2). */
@Injectable()
export class PurposesService {
  constructor(
    private readonly repository: PurposesRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
  ) {}

  /** All purposes, by name. */
  list(): Promise<PurposeEntity[]> {
    return this.repository.list();
  }

  /** The purpose; throws a 404 problem. */
  async get(name: string): Promise<PurposeEntity> {
    const purpose = await this.repository.find(name);
    if (!purpose) throw unknownPurpose();
    return purpose;
  }

  /** What users read of the purposes with these names, in the same order; a name that is no longer there stands for itself. */
  async wordsOf(names: string[], language: string): Promise<string[]> {
    if (names.length === 0) return [];
    const found = await this.repository.findNamed(names);
    return names.map((name) => {
      const purpose = found.find((each) => each.name === name);
      return purpose ? purposeWordsIn(purpose, language) : name;
    });
  }

  /** Those of the names that are in the catalogue, which cannot be deleted until the transaction ends. */
  async hold(names: string[]): Promise<string[]> {
    if (names.length === 0) return [];
    return (await this.repository.holdNamed(names)).map(({ name }) => name);
  }

  /**
   * Creates a purpose, or replaces its words. Throws a 400 problem with `field_errors` for words that are not as they must be, and with
   * `onlyNew` for a name that another one has.
   */
  put(
    name: string,
    given: Record<string, unknown>,
    actor: Actor,
    { onlyNew = false }: { onlyNew?: boolean } = {},
  ): Promise<{ purpose: PurposeEntity; created: boolean }> {
    return this.transactions.run(async () => {
      const violations = purposeViolations(given);
      if (Object.keys(violations).length > 0) throw validationFailed(violations);
      const purpose: PurposeEntity = { name, words: inOrder(given as PurposeWords) };
      const created = await this.repository.insertNew(purpose);
      const before = await this.repository.lock(name);
      // Deleted between the two statements.
      if (!before) throw conflict('The purpose was deleted in the meantime. Try again.');
      const difference = changesBetween(
        auditView({ ...before, words: inOrder(before.words) }),
        auditView(purpose),
      );
      // The same again is a form that was sent twice.
      if (onlyNew && !created && difference) throw validationFailed({ name: [violation('taken_name')] });
      if (difference) await this.repository.update(purpose);
      if (created || difference) {
        await this.audit.record(actor, {
          action: created ? 'purpose.created' : 'purpose.updated',
          subjectId: name,
          ...(created ? { after: auditView(purpose) } : difference),
        });
      }
      return { purpose, created };
    });
  }

  /** Deletes a purpose. Throws a 404 problem, and a 409 problem while a client declares it. */
  delete(name: string, actor: Actor): Promise<void> {
    return this.transactions.run(async () => {
      const purpose = await this.repository.lock(name);
      if (!purpose) throw unknownPurpose();
      if (await this.repository.isDeclared(name)) {
        throw conflict('A client declares this purpose, so it cannot be deleted.');
      }
      await this.repository.delete(name);
      await this.audit.record(actor, {
        action: 'purpose.deleted',
        subjectId: name,
        before: auditView(purpose),
      });
    });
  }
}

/** The database keeps the members of JSON in an order of its own. */
const inOrder = (words: PurposeWords): PurposeWords =>
  Object.fromEntries(
    LANGUAGES.flatMap((language) => (words[language] === undefined ? [] : [[language, words[language]]])),
  ) as PurposeWords;

const unknownPurpose = (): Problem => notFound('There is no purpose with this name.');

const auditView = auditViewOf(PurposeEntity, { name: 'name', words: 'words' }, {});
