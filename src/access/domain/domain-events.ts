import { event } from '#platform/database/domain/named.js';

/** That a user asked for the deletion of the account, and when it is due; or that the account stays after all. */
export type DeletionChange = { userId: string; requestId?: string } & (
  | { kind: 'requested'; dueAt: Date }
  | { kind: 'cancelled' }
);

/**
 * A change of a consent: given or extended by scopes (`granted`), reduced or renewed (`changed`), withdrawn (`revoked`), over
 * (`expired`), or about to expire (`expiring`). With its scopes and its end after the change.
 */
export interface ConsentChange {
  kind: 'granted' | 'changed' | 'revoked' | 'expiring' | 'expired';
  clientId: string;
  userId: string;
  scopes: string[];
  expiresAt: Date | null;
  /** The request that caused it, if one did. */
  requestId?: string;
}

declare module '#platform/database/domain/domain-map.js' {
  interface DomainMaps {
    domainEvents: typeof DOMAIN_EVENTS;
  }
}

/** What happens to accounts, clients and consents that others have to follow, in the same transaction. */
export const DOMAIN_EVENTS = {
  'consents.changed': event<(changes: ConsentChange[]) => Promise<void>>(
    'Consents were given, changed or ended, or will soon end.',
  ),
  'user.deletion_changed': event<(change: DeletionChange) => Promise<void>>(
    'A user asked for the deletion of the account, or the account stays after all.',
  ),
};
