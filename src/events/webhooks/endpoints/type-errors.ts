import type { EventTypeEntity } from '../event-types/event-type.entity.js';
import { violation, type Violation } from '#platform/http/problems/violation.js';

/** What is wrong with a subscription to these types, for a client with these scopes. */
export const typeErrors = (
  known: readonly Pick<EventTypeEntity, 'name' | 'scope'>[],
  scopes: string[],
  names: string[],
): Violation[] =>
  names.flatMap((name, index) => {
    const type = known.find((candidate) => candidate.name === name);
    if (!type) return [violation('unknown_event_type', { place: index + 1 })];
    if (type.scope !== null && !scopes.includes(type.scope)) {
      return [violation('type_needs_scope', { type: type.name, scope: type.scope })];
    }
    return [];
  });
