import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** Why tokens, codes, links and sessions ended; stored with a revoked grant, for finding out why a partner gets 401. */
export type EndingReason =
  | 'user_disabled'
  | 'password_changed'
  | 'email_changed'
  | 'client_disabled'
  | 'consent_revoked'
  | 'tokens_revoked'
  | 'grant_revoked'
  | 'token_revoked'
  | 'code_replayed'
  | 'refresh_token_replayed';

/** Selects webhook portals: those of one client, or of every client of an owner. */
export type PortalsOf = { clientId: string } | { ownerId: string };

/**
 * Implemented by modules that issue something: ends it when something it depends on ends. Each method runs in the caller's
 * transaction and returns how many it ended.
 */
export interface AccessEnding {
  /** Ends everything that depends on this user's authorizations. */
  endForUser(manager: EntityManager, userId: string, reason: EndingReason): Promise<number>;
  /** Ends the client-credentials access of the clients that this user owns. */
  endForOwner(manager: EntityManager, userId: string, reason: EndingReason): Promise<number>;
  /** Ends everything that the client holds, for itself and for users. */
  endForClient(manager: EntityManager, clientId: string, reason: EndingReason): Promise<number>;
  /** Ends everything that depends on one user's consent to one client. */
  endForConsent(
    manager: EntityManager,
    clientId: string,
    userId: string,
    reason: EndingReason,
  ): Promise<number>;
  /** Ends only portal links and sessions: access to the portal changed, but nothing that tokens depend on. */
  endPortals?(manager: EntityManager, of: PortalsOf): Promise<void>;
}

/**
 * The port through which accounts, clients and consents end what higher modules (tokens, portal) have issued based on them,
 * immediately and in the same transaction. The caller must have changed or locked the row first, so that nothing issued
 * concurrently escapes.
 */
@Injectable()
export class AccessRevocations implements AccessEnding {
  private readonly parts: AccessEnding[] = [];

  /** Called once by each module that issues something. */
  add(part: AccessEnding): void {
    this.parts.push(part);
  }

  endForUser(manager: EntityManager, userId: string, reason: EndingReason): Promise<number> {
    return this.sum((part) => part.endForUser(manager, userId, reason));
  }

  endForOwner(manager: EntityManager, userId: string, reason: EndingReason): Promise<number> {
    return this.sum((part) => part.endForOwner(manager, userId, reason));
  }

  endForClient(manager: EntityManager, clientId: string, reason: EndingReason): Promise<number> {
    return this.sum((part) => part.endForClient(manager, clientId, reason));
  }

  endForConsent(
    manager: EntityManager,
    clientId: string,
    userId: string,
    reason: EndingReason,
  ): Promise<number> {
    return this.sum((part) => part.endForConsent(manager, clientId, userId, reason));
  }

  async endPortals(manager: EntityManager, of: PortalsOf): Promise<void> {
    for (const part of this.parts) await part.endPortals?.(manager, of);
  }

  private async sum(end: (part: AccessEnding) => Promise<number>): Promise<number> {
    let ended = 0;
    for (const part of this.parts) ended += await end(part);
    return ended;
  }
}
