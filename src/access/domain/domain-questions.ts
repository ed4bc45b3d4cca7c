import type { Actor } from '#records/audit/audit.service.js';
import type { OperatorRole } from '#platform/config/operator-role.js';
import type { Language } from '#platform/language/languages.js';
import type { Violation } from '#platform/http/problems/violation.js';
import { askedOfAll, askedOfOne } from '#platform/database/domain/named.js';

/** A reason why people cannot delete their own account yet. */
export type ErasureObstacle = 'operator' | 'owns_clients';

/** What one module holds about a person (contract §13), as `section` makes it. */
export interface HeldAboutPerson {
  /** The member of the file; unique. */
  name: string;
  /**
   * Its position among the sections: 10 to 19 the account, 20 to 39 applications and data, 40 to 59 logins, 60 to 89 records, 90
   * to 99 partners and operators.
   */
  place: number;
  title: string;
  /** A sentence for the person. */
  about: string;
  /**
   * Up to `limit` records, the newest if there can be many. Our own texts are in the language of the reader.
   */
  read(userId: string, limit: number, language: Language): Promise<object[]>;
  /** What the page shows of each record, by its heading. */
  columns: Record<string, (record: never) => unknown>;
}

/** What a second admin is asked for. `details`: what exactly, as far as the action does not say it. */
export interface AskedOfSecondAdmin {
  action: string;
  subjectId: string;
  details: object | null;
}

/** What waits for a second admin: how the admin API shows it, and its page of the console. */
export interface Waiting {
  view: object;
  page: string;
}

declare module '#platform/database/domain/domain-map.js' {
  interface DomainMaps {
    domainQuestions: typeof DOMAIN_QUESTIONS;
  }
}

/** What accounts and clients ask of those above them. */
export const DOMAIN_QUESTIONS = {
  'user.personal_data': askedOfAll<() => HeldAboutPerson>('What is held about a person? For the export.'),
  'user.erasure_obstacle': askedOfAll<(userId: string) => Promise<ErasureObstacle | undefined>>(
    'What prevents that people delete their own account? While the user is locked, no new reason appears.',
  ),
  'users.behind_operator_clients': askedOfOne<(userIds: string[]) => Promise<string[]>>(
    'Which of the users own a live client with operator scopes, or are admins of an organisation that does?',
  ),
  'client.operator_role': askedOfOne<(clientId: string) => Promise<OperatorRole | null>>(
    'Which operator role does a client have now? It stays locked until the transaction ends.',
  ),
  'admin.second_admin': askedOfAll<(asked: AskedOfSecondAdmin, actor: Actor) => Promise<Waiting>>(
    'Who asks a second admin for an action that may not be done at once? Without an answer it is refused.',
  ),
  'client.key_address_violation': askedOfOne<(address: string) => Promise<Violation | undefined>>(
    'What is wrong with an address of a client’s keys, so that they would not be fetched from it? It is asked before one is saved.',
  ),
};
