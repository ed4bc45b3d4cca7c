import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';

/** Why tokens, codes, links and sessions end; kept with a revoked grant, for whoever asks why a partner gets 401. */
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

/** What a room that issues something does when what it rests on ends. Each runs in the caller's transaction and tells how many it ended. */
export interface AccessEnding {
  /** Everything that rests on the user as the one who agreed. */
  endForUser(manager: EntityManager, userId: string, reason: EndingReason): Promise<number>;
  /** What the clients that this user owns hold in their own name. */
  endForOwner(manager: EntityManager, userId: string, reason: EndingReason): Promise<number>;
  /** Everything that the client holds, in its own name and in users'. */
  endForClient(manager: EntityManager, clientId: string, reason: EndingReason): Promise<number>;
  /** Everything that rests on one user's consent to one client. */
  endForConsent(
    manager: EntityManager,
    clientId: string,
    userId: string,
    reason: EndingReason,
  ): Promise<number>;
}

/**
 * The port by which accounts, clients and consents end what higher rooms (tokens, portal) issued on their strength, at
 * once and in the same transaction. The caller has changed or locked the row first, so that nothing issued at the same
 * moment slips through.
 */
@Injectable()
export class AccessEndings implements AccessEnding {
  private readonly parts: AccessEnding[] = [];

  /** Called once by each room that issues something. */
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

  private async sum(end: (part: AccessEnding) => Promise<number>): Promise<number> {
    let ended = 0;
    for (const part of this.parts) ended += await end(part);
    return ended;
  }
}
