import type { OperatorRole } from '#platform/config/operator-role.js';
import { askedOfAll, askedOfOne } from '#platform/database/domain/named.js';

/** A reason why people cannot delete their own account yet. */
export type ErasureObstacle = 'operator' | 'owns_clients';

declare module '#platform/database/domain/domain-map.js' {
  interface DomainMaps {
    domainQuestions: typeof DOMAIN_QUESTIONS;
  }
}

/** What accounts ask of those above them. */
export const DOMAIN_QUESTIONS = {
  'user.erasure_obstacle': askedOfAll<(userId: string) => Promise<ErasureObstacle | undefined>>(
    'What prevents that people delete their own account? While the user is locked, no new reason appears.',
  ),
  'users.behind_operator_clients': askedOfOne<(userIds: string[]) => Promise<string[]>>(
    'Which of the users own a live client with operator scopes, or are admins of an organisation that does?',
  ),
  'client.operator_role': askedOfOne<(clientId: string) => Promise<OperatorRole | null>>(
    'Which operator role does a client have now? It stays locked until the transaction ends.',
  ),
};
