import { Injectable } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';

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

/** Selects webhook portals: those of one client, or of every client of an owner. */
export type PortalsOf = { clientId: string } | { ownerId: string };

/**
 * Implemented by modules that issue something: revokes it when something it depends on ends. Each method runs in the caller's
 * transaction and returns how many it revoked.
 */
export interface AccessRevocation {
  /** Revokes everything that depends on this user's authorizations. */
  revokeByUser(userId: string, reason: RevocationReason): Promise<number>;
  /** Revokes the client-credentials access of the clients that this user owns. */
  revokeByOwner(userId: string, reason: RevocationReason): Promise<number>;
  /** Revokes everything that the client holds, for itself and for users. */
  revokeByClient(clientId: string, reason: RevocationReason): Promise<number>;
  /** Revokes everything that depends on one user's consent to one client. */
  revokeByConsent(clientId: string, userId: string, reason: RevocationReason): Promise<number>;
  /** Revokes only portal links and sessions: access to the portal changed, but nothing that tokens depend on. */
  revokePortals?(of: PortalsOf): Promise<void>;
}

type WithdrawInvitations = (userId: string, actor: Actor) => Promise<void>;

/** Implemented by the module of invitations: withdraws those to become an operator. */
export interface InvitationWithdrawals {
  /** Those for which this user is responsible. */
  by: WithdrawInvitations;
  /** Those to the address of this user. */
  to: WithdrawInvitations;
}

/**
 * The port through which accounts, clients and consents revoke what higher modules (tokens, portal) have issued based on them,
 * immediately and in the same transaction. The caller must have changed or locked the row first, so that nothing issued
 * concurrently escapes.
 */
@Injectable()
export class AccessRevocations implements AccessRevocation {
  private readonly parts: AccessRevocation[] = [];
  private invitations: InvitationWithdrawals | undefined;

  /** Called once by each module that issues something. */
  add(part: AccessRevocation): void {
    this.parts.push(part);
  }

  /** Called once by the module of invitations. */
  setInvitations(withdrawals: InvitationWithdrawals): void {
    this.invitations = withdrawals;
  }

  revokeByUser(userId: string, reason: RevocationReason): Promise<number> {
    return this.sum((part) => part.revokeByUser(userId, reason));
  }

  revokeByOwner(userId: string, reason: RevocationReason): Promise<number> {
    return this.sum((part) => part.revokeByOwner(userId, reason));
  }

  revokeByClient(clientId: string, reason: RevocationReason): Promise<number> {
    return this.sum((part) => part.revokeByClient(clientId, reason));
  }

  revokeByConsent(clientId: string, userId: string, reason: RevocationReason): Promise<number> {
    return this.sum((part) => part.revokeByConsent(clientId, userId, reason));
  }

  async revokePortals(of: PortalsOf): Promise<void> {
    for (const part of this.parts) await part.revokePortals?.(of);
  }

  /** After an enabled admin has stopped being one: what the admin invited others to does not come back with the role. */
  async withdrawInvitations(userId: string, actor: Actor): Promise<void> {
    await this.invitations?.by(userId, actor);
  }

  /** After an operator has lost the role: it does not come back by an invitation that is still open. */
  async withdrawInvitationsTo(userId: string, actor: Actor): Promise<void> {
    await this.invitations?.to(userId, actor);
  }

  /** Before an operator gets another address: those to the present one could not be found when the role is lost. */
  async beforeNewAddress(
    { id, operatorRole }: { id: string; operatorRole: string | null },
    actor: Actor,
  ): Promise<void> {
    if (operatorRole !== null) await this.withdrawInvitationsTo(id, actor);
  }

  private async sum(revoke: (part: AccessRevocation) => Promise<number>): Promise<number> {
    let revoked = 0;
    for (const part of this.parts) revoked += await revoke(part);
    return revoked;
  }
}
