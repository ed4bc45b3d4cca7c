import type { INestApplicationContext } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import { conflict, Problem } from '#platform/http/problems/problem.js';
import type { Change } from './company-differences.js';
import type { Company } from './company-sections.js';
import type { CurrentCompany } from './current-company.js';
import type { CompanyDocument, Place } from './read-company.js';
import type { SecretSource } from './secret-source.js';

export interface ApplyOptions {
  /** In whose name; the audit log has it. */
  actor: Actor;
  dryRun: boolean;
  /** Whether what the file does not name is removed, in the sections that it has. */
  prune: boolean;
}

/** A file that is being applied, in a transaction. */
export interface Applying extends ApplyOptions {
  app: INestApplicationContext;
  document: CompanyDocument;
  company: Company;
  current: CurrentCompany;
  /** What was done so far. */
  changes: Change[];
  secrets: SecretSource;
  /** Does something that the services may refuse, and notes the refusal at its place of the file. */
  attempt: (place: Place, work: () => Promise<unknown>) => Promise<void>;
}

/** Says first what is refused, where the file has no place of its own for it. */
export async function refusedAs(words: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Problem) throw conflict(`${words}: ${error.detail}`);
    throw error;
  }
}
