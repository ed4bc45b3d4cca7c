import type { Actor } from '#records/audit/audit.service.js';
import { event } from '#platform/database/domain/named.js';

/** Why tokens, codes, links and sessions ended; stored with a revoked grant, for finding out why a partner gets 401. */
export type RevocationReason =
  | 'user_disabled'
  | 'password_changed'
  | 'email_changed'
  | 'client_disabled'
  | 'consent_revoked'
  | 'consent_expired'
  | 'tokens_revoked'
  | 'grant_revoked'
  | 'token_revoked'
  | 'code_replayed'
  | 'refresh_token_replayed'
  | 'sandbox_fault';

/** A link of an account to a person at an identity provider. */
export interface LinkedPerson {
  issuer: string;
  subject: string;
}

/** What else may stand in rows that do not name the account: every email address it had, and the IP addresses that are stored of it. */
export interface PersonTraces {
  emails: string[];
  addresses: string[];
}

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
  'user.access_ended': event<(userId: string, reason: RevocationReason) => Promise<unknown>>(
    'A user was disabled, or got another password or email address: what the user authorized ends.',
  ),
  'user.sign_in_ways_ended': event<(userId: string, except?: LinkedPerson) => Promise<number>>(
    'All ways to open an account end, because it gained power. The links to identity providers end too, except to this person; returns how many.',
  ),
  'user.erased': event<(userId: string, traces: PersonTraces) => Promise<Record<string, unknown> | void>>(
    'A user is about to be deleted. The row is locked exclusively, so that nothing new about the user is added. Returns what the audit log keeps, which has only ids.',
  ),
  'owner.disabled': event<(ownerId: string) => Promise<void>>(
    'The owner of clients was disabled: what the clients hold for themselves ends.',
  ),
  'owner.webhooks_disabled': event<(ownerId: string) => Promise<void>>(
    'The owner of clients may no longer have webhooks.',
  ),
  'operator.ended': event<(userId: string, actor: Actor) => Promise<void>>('An operator has lost the role.'),
  'operator.address_changing': event<(userId: string, actor: Actor) => Promise<void>>(
    'An operator is about to get another address, so that what was sent to the present one could not be found when the role is lost.',
  ),
  'admin.ended': event<(userId: string, actor: Actor) => Promise<void>>(
    'An enabled admin has stopped being one. What the admin invited others to does not come back with the role.',
  ),
  'client.access_ended': event<(clientId: string, reason: RevocationReason) => Promise<number | void>>(
    'A client was disabled, or everything that it holds is revoked, for itself and for users. Who ends grants returns their number.',
  ),
  'client.secret_ended': event<(clientId: string) => Promise<void>>(
    'A secret or a key of a client ended at once: who has it may have opened the portal.',
  ),
  'consent.ended': event<(clientId: string, userId: string, reason: RevocationReason) => Promise<unknown>>(
    'A consent ended: what depends on it ends.',
  ),
  'consents.changed': event<(changes: ConsentChange[]) => Promise<void>>(
    'Consents were given, changed or ended, or will soon end.',
  ),
  'user.deletion_changed': event<(change: DeletionChange) => Promise<void>>(
    'A user asked for the deletion of the account, or the account stays after all.',
  ),
};
