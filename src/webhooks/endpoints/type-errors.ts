import type { EventTypeEntity } from '../event-types/event-type.entity.js';

/** What is wrong with a subscription to these types, for a client with these scopes. */
export const typeErrors = (
  known: readonly Pick<EventTypeEntity, 'name' | 'scope'>[],
  scopes: string[],
  names: string[],
): string[] =>
  names.flatMap((name, index) => {
    const type = known.find((candidate) => candidate.name === name);
    if (!type) return [`type ${index + 1} is not in the event catalogue`];
    if (type.scope !== null && !scopes.includes(type.scope)) {
      return [`${type.name} requires the scope ${type.scope}, which this client does not have`];
    }
    return [];
  });
